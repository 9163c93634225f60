/** Equity, which moves with the marks, and how the balance is used. */

import { formatDollars, formatSigned, toneOf } from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
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
    <dl className="facts summary" aria-label={t.account.title}>
      <Fact label={t.words.equity}>{moneyText(equity)}</Fact>
      <Fact label={t.words.unrealizedPnl} className={toneOf(unrealized?.shown, 2)}>
        {unrealized === undefined ? (
          <span className="skeleton" />
        ) : (
          formatSigned(unrealized.shown, 2)
        )}
      </Fact>
      <Fact label={t.portfolio.positionMargin}>{moneyText(money?.positionMargin)}</Fact>
      <Fact label={t.portfolio.inOrders}>{moneyText(money?.reserved)}</Fact>
      <Fact label={t.words.available}>{moneyText(money?.available)}</Fact>
      {money?.cohort === false && <div className="notice warn">{t.portfolio.onlyReduce}</div>}
    </dl>
  );
}

function moneyText(value: number | undefined) {
  return value === undefined ? <span className="skeleton" /> : formatDollars(value);
}
