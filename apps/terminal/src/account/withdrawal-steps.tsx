/** Where a withdrawal is on its way, and what follows. */

import type { Withdrawal } from "@perpgate/protocol";
import { formatDayAndClock } from "../format/text.js";

type Status = Withdrawal["status"];

const STEPS = [
  ["queued", "In the venue's log. The attestors wait for a proof that it is sealed."],
  ["attested", "A quorum of attestors has signed it. Anyone can send it to the vault now."],
  ["pending", "The vault has it, in its dispute period of some minutes."],
  ["paid", "The vault has paid, at a finalized block."],
] as const satisfies readonly (readonly [Status, string])[];

export function WithdrawalSteps({ withdrawal }: { readonly withdrawal: Withdrawal }) {
  const { status, deadline, txHash } = withdrawal;
  const reached = STEPS.findIndex(([step]) => step === status);
  return (
    <>
      <ol className="steps" aria-label="Progress of the withdrawal">
        {STEPS.map(([step, text], i) => (
          <li key={step} aria-current={i === reached ? "step" : undefined}>
            <span className={`chip ${i <= reached ? "good" : ""}`}>{step}</span> {text}
          </li>
        ))}
      </ol>
      {status === "expired" ? (
        <p className="notice warn">
          It was not paid by its deadline. Amount and fee are in your wallet again.
        </p>
      ) : (
        status !== "paid" && (
          <p className="faint">
            Nothing is paid after {formatDayAndClock(deadline)}: then amount and fee come back.
          </p>
        )
      )}
      {txHash !== null && <p className="secret">Transaction {txHash}</p>}
    </>
  );
}
