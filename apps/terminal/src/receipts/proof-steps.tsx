/** How far the promise of an acknowledgement is proven: signed, sealed, witnessed. */

import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Icon } from "../ui/icons.js";
import type { OrderResult, SealState, SignedState, WitnessState } from "../venue/order-result.js";

interface Step {
  readonly tone: string;
  readonly text: string;
  readonly title: string;
  readonly isDone?: boolean;
}

const SIGNED: Readonly<Record<SignedState, Step>> = {
  checking: { tone: "", text: "Signed", title: "The receipt's signatures are being checked." },
  held: {
    tone: "good",
    text: "Signed",
    title:
      "The venue has signed this promise, and the signatures hold. Save the receipt to prove it.",
    isDone: true,
  },
  none: { tone: "", text: "No receipt", title: "The venue gave no receipt that could be checked." },
  missing: { tone: "warn", text: "No receipt", title: "The venue has left the receipt out." },
  broken: { tone: "bad", text: "Not signed", title: "The receipt does not hold." },
};

const SEALS: Readonly<Record<SealState, Step>> = {
  soft: { tone: "warn", text: "Soft", title: "Executed and durable. Its block is still open." },
  sealed: { tone: "good", text: "Sealed", title: "Its block is sealed." },
  proven: {
    tone: "good",
    text: "Sealed",
    title: "Verified in this page: the block's hash covers this acknowledgement.",
    isDone: true,
  },
  differs: {
    tone: "bad",
    text: "Differs",
    title: "The venue's proof does not match its acknowledgement",
  },
  unproven: { tone: "bad", text: "Unproven", title: "The proof could not be checked" },
};

const WITNESSES: Readonly<Record<WitnessState, Step>> = {
  pending: { tone: "", text: "Witnessed", title: "No checkpoint of the log covers its block yet." },
  logged: {
    tone: "good",
    text: "Logged",
    title:
      "Verified in this page: its block is under a signed checkpoint of the public log. It has no " +
      "cosignature under a key that the venue names.",
    isDone: true,
  },
  witnessed: {
    tone: "good",
    text: "Witnessed",
    title:
      "Verified in this page under the key that the venue names: its block is under a cosigned " +
      "checkpoint of the public log. With a key from the witness, check the saved proof with perpgate " +
      "check. Cosigned by",
    isDone: true,
  },
  missing: { tone: "bad", text: "Not logged", title: "There is no proof file that holds." },
};

/** Where no witness is configured none is waited for. */
function unwitnessed(witness: WitnessState): Step {
  return witness === "pending" ? { ...WITNESSES.pending, text: "Logged" } : WITNESSES[witness];
}

export function ProofSteps({ result }: { readonly result: OrderResult }) {
  const terminal = useTerminal();
  const { ack, signed, seal, witness, witnesses, receiptFailure, failure, problems } = result;
  const hasWitnesses = useStore(
    terminal.honesty.record,
    (record) => (record?.witnesses.length ?? 0) > 0,
  );
  const by = witnesses.length > 0 ? ` ${witnesses.join(", ")}.` : "";
  const retry = () => {
    const { session } = terminal.sessions;
    if (session !== undefined) terminal.orders.book.retry(session, ack.ackNonce);
  };
  return (
    <>
      <ol className="proof-steps" aria-label="Proof of the acknowledgement">
        <li data-signed={signed}>
          <Chip step={SIGNED[signed]} />
        </li>
        <li>
          <SealChip result={result} />
        </li>
        <li data-witness={witness}>
          <Chip step={hasWitnesses ? WITNESSES[witness] : unwitnessed(witness)} more={by} />
        </li>
      </ol>
      {seal === "differs" && <p className="notice">{problemText(problems)}</p>}
      {receiptFailure !== undefined && (
        <p className="notice bad" role="alert">
          {receiptFailure}
        </p>
      )}
      {failure !== undefined && (
        <div className="notice bad" role="alert">
          {failure}
          {seal === "unproven" && (
            <div>
              <button type="button" className="button small" onClick={retry}>
                Check again
              </button>
            </div>
          )}
        </div>
      )}
    </>
  );
}

export function SealChip({ result: { seal, problems } }: { readonly result: OrderResult }) {
  const more = problems.length === 0 ? "" : `: ${problemText(problems)}`;
  return <Chip step={SEALS[seal]} more={more} seal={seal} />;
}

interface ChipProps {
  readonly step: Step;
  readonly more?: string;
  readonly seal?: SealState;
}

function Chip({ step: { tone, text, title, isDone = false }, more = "", seal }: ChipProps) {
  const testId = seal === undefined ? undefined : "seal";
  return (
    <span
      className={`chip ${tone}`}
      title={`${title}${more}`}
      data-testid={testId}
      data-seal={seal}
    >
      {isDone && <Icon name="check" />}
      {text}
    </span>
  );
}

function problemText(problems: OrderResult["problems"]): string {
  return problems.map(({ message }) => message).join("; ");
}
