/** Equity, which moves with the marks, and how the balance is used. */

import { formatDollars, formatSigned, toneOf } from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Fact } from "../ui/fact.js";
import { useUnrealized } from "./live-pnl.js";

export function AccountSummary() {
  const { account, sessions } = useTerminal();
  const isIn = useStore(sessions.state, ({ status }) => status === "in");
  const money = useStore(account.account);
  const unrealized = useUnrealized();
  if (!isIn) return null;
  const equity =
    money === undefined || unrealized === undefined ? undefined : money.balance + unrealized.exact;
  return (
    <dl className="facts summary" aria-label="Account">
      <Fact label="Equity">{moneyText(equity)}</Fact>
      <Fact label="Unrealised PnL" className={toneOf(unrealized?.shown, 2)}>
        {unrealized === undefined ? (
          <span className="skeleton" />
        ) : (
          formatSigned(unrealized.shown, 2)
        )}
      </Fact>
      <Fact label="Position margin">{moneyText(money?.positionMargin)}</Fact>
      <Fact label="In orders">{moneyText(money?.reserved)}</Fact>
      <Fact label="Available">{moneyText(money?.available)}</Fact>
      {money?.cohort === false && (
        <div className="notice warn">
          This account may not open positions yet. It may reduce them.
        </div>
      )}
    </dl>
  );
}

function moneyText(value: number | undefined) {
  return value === undefined ? <span className="skeleton" /> : formatDollars(value);
}
