/** Where a withdrawal is on its way, and what follows. */

import type { Withdrawal } from "@perpgate/protocol";
import { formatDayAndClock } from "../format/text.js";
import { t } from "../text/texts.js";

const STEPS = ["queued", "attested", "pending", "paid"] as const;

export function WithdrawalSteps({ withdrawal }: { readonly withdrawal: Withdrawal }) {
  const { status, deadline, txHash } = withdrawal;
  const reached = status === "expired" ? -1 : STEPS.indexOf(status);
  return (
    <>
      <ol className="steps" aria-label={t.withdraw.progress}>
        {STEPS.map((step, i) => (
          <li key={step} aria-current={i === reached ? "step" : undefined}>
            <span className={`chip ${i <= reached ? "good" : ""}`}>{t.withdraw.status[step]}</span>{" "}
            {t.withdraw.steps[step]}
          </li>
        ))}
      </ol>
      {status === "expired" ? (
        <p className="notice warn">{t.withdraw.expired}</p>
      ) : (
        status !== "paid" && (
          <p className="faint">{t.withdraw.deadline(formatDayAndClock(deadline))}</p>
        )
      )}
      {txHash !== null && <p className="secret">{t.withdraw.transaction(txHash)}</p>}
    </>
  );
}
