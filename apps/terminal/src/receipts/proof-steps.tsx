/** How far the promise of an acknowledgement is proven: signed, sealed, witnessed. */

import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Icon } from "../ui/icons.js";
import type { OrderResult, SealState, SignedState, WitnessState } from "../venue/order-result.js";

interface Look {
  readonly tone: string;
  readonly isDone?: boolean;
}

interface Step extends Look {
  readonly text: string;
  readonly title: string;
}

const DONE: Look = { tone: "good", isDone: true };

const SIGNED: Readonly<Record<SignedState, Look>> = {
  checking: { tone: "" },
  held: DONE,
  none: { tone: "" },
  missing: { tone: "warn" },
  broken: { tone: "bad" },
};

const SEALS: Readonly<Record<SealState, Look>> = {
  soft: { tone: "warn" },
  sealed: { tone: "good" },
  proven: DONE,
  differs: { tone: "bad" },
  unproven: { tone: "bad" },
};

const WITNESSES: Readonly<Record<WitnessState, Look>> = {
  pending: { tone: "" },
  logged: DONE,
  witnessed: DONE,
  missing: { tone: "bad" },
};

/** Where no witness is configured none is waited for. */
function witnessStep(witness: WitnessState, hasWitnesses: boolean): Step {
  const step = { ...WITNESSES[witness], ...t.proof.witnesses[witness] };
  const { text } = t.proof.witnesses.logged;
  return witness === "pending" && !hasWitnesses ? { ...step, text } : step;
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
      <ol className="proof-steps" aria-label={t.proof.label}>
        <li data-signed={signed}>
          <Chip step={{ ...SIGNED[signed], ...t.proof.signed[signed] }} />
        </li>
        <li>
          <SealChip result={result} />
        </li>
        <li data-witness={witness}>
          <Chip step={witnessStep(witness, hasWitnesses)} more={by} />
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
                {t.proof.checkAgain}
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
  return <Chip step={{ ...SEALS[seal], ...t.proof.seals[seal] }} more={more} seal={seal} />;
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
