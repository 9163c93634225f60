/** What the account has: equity, which moves with the marks, and where the money stands. */

import { formatDollars, formatSigned } from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { useUnrealized } from "./live-pnl.js";

export function AccountSummary() {
  const { account, sessions } = useTerminal();
  const isIn = useStore(sessions.state, ({ status }) => status === "in");
  const money = useStore(account.account);
  const unrealized = useUnrealized();
  if (!isIn) return null;
  const equity = money === undefined ? undefined : money.balance + unrealized;
  return (
    <dl className="facts summary" aria-label="Account">
      <Row label="Equity" value={equity} />
      <div>
        <dt>Unrealised PnL</dt>
        <dd className={unrealized === 0 ? "" : unrealized > 0 ? "long" : "short"}>
          {formatSigned(unrealized, 2)}
        </dd>
      </div>
      <Row label="Position margin" value={money?.positionMargin} />
      <Row label="In orders" value={money?.reserved} />
      <Row label="Available" value={money?.available} />
      {money?.cohort === false && (
        <div className="notice warn">
          This account may not open positions at the present stage. Reducing is fine.
        </div>
      )}
    </dl>
  );
}

function Row({ label, value }: { readonly label: string; readonly value: number | undefined }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value === undefined ? <span className="skeleton" /> : formatDollars(value)}</dd>
    </div>
  );
}
