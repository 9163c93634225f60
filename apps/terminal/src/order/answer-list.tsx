/** The answers to the last orders: what filled, what it cost, how fast, and in which block. */

import { formatFee, formatMs } from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Icon } from "../ui/icons.js";
import { priceText, sizeText } from "../venue/market-view.js";
import type { OrderAnswer, SealState } from "../venue/order-desk.js";
import { REASON_WORDS } from "./reason-words.js";

export function AnswerList() {
  const { orders } = useTerminal();
  const answers = useStore(orders.answers);
  const [latest, ...earlier] = answers;
  return (
    <div className="answers" aria-live="polite">
      {latest !== undefined && <AnswerCard answer={latest} />}
      {earlier.slice(0, 3).map((answer) => (
        <AnswerLine key={answer.ack.ackNonce} answer={answer} />
      ))}
    </div>
  );
}

function AnswerCard({ answer }: { readonly answer: OrderAnswer }) {
  const { board } = useTerminal();
  const { ack, browserMs, seal, problems, replayed } = answer;
  const view = board.view(ack.symbol);
  const base = view?.market.base ?? "";
  return (
    <section className="answer" aria-label="Answer to the last order" data-testid="answer">
      <div className="answer-head">
        <strong>{titleOf(answer)}</strong>
        <SealChip seal={seal} problems={problems} />
      </div>
      {seal === "differs" && <p className="notice">{problemText(problems)}</p>}
      {ack.reason !== null && <p className="notice">{REASON_WORDS[ack.reason] ?? ack.reason}</p>}
      <dl className="facts">
        <Fact label="Filled">
          {sizeText(view, ack.filledSize)} {base}
          {ack.filledSize > 0 && ` at ${priceText(view, ack.avgFillPrice)}`}
        </Fact>
        {ack.remainingSize > 0 && (
          <Fact label={ack.status === "canceled" ? "Canceled" : "Waiting"}>
            {sizeText(view, ack.remainingSize)} {base}
          </Fact>
        )}
        <Fact label="Fee">{formatFee(ack.feePaid)}</Fact>
        <Fact label="Preconfirmed in">
          <span data-testid="answer-server-ms">{formatMs(ack.elapsedMs)}</span>
          <span className="faint"> venue · </span>
          <span data-testid="answer-browser-ms">{formatMs(browserMs)}</span>
          <span className="faint"> here</span>
        </Fact>
        <Fact label="Block">
          <span data-testid="answer-block">{ack.expectedBlock}</span>
          {answer.leaf !== undefined && <span className="faint">, leaf {answer.leaf}</span>}
        </Fact>
        <Fact label="Order">
          {ack.orderId}
          {replayed && <span className="faint"> (answered before)</span>}
        </Fact>
      </dl>
    </section>
  );
}

function AnswerLine({ answer }: { readonly answer: OrderAnswer }) {
  return (
    <div className="answer-line">
      <span>{titleOf(answer)}</span>
      <span className="faint">{formatMs(answer.ack.elapsedMs)}</span>
      <SealChip seal={answer.seal} problems={answer.problems} />
    </div>
  );
}

function Fact({ label, children }: { readonly label: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const SEALS: Readonly<Record<SealState, { tone: string; text: string; title: string }>> = {
  soft: { tone: "warn", text: "Soft", title: "Executed and durable; its block is still open" },
  sealed: { tone: "good", text: "Sealed", title: "Its block is sealed" },
  proven: {
    tone: "good",
    text: "Sealed",
    title: "Checked here: its block's hash covers this very acknowledgement",
  },
  differs: {
    tone: "bad",
    text: "Differs",
    title: "What the venue gives as a proof is none for what it answered",
  },
};

function SealChip({ seal, problems }: Pick<OrderAnswer, "seal" | "problems">) {
  const { tone, text, title } = SEALS[seal];
  const why = problems.length === 0 ? title : `${title}: ${problemText(problems)}`;
  return (
    <span className={`chip ${tone}`} title={why} data-testid="seal" data-seal={seal}>
      {seal === "proven" && <Icon name="check" />}
      {text}
    </span>
  );
}

function problemText(problems: OrderAnswer["problems"]): string {
  return problems.map(({ message }) => message).join("; ");
}

const STATUS_WORDS = {
  filled: "filled",
  resting: "resting",
  pending: "waiting for its trigger",
  canceled: "canceled",
};

function titleOf({ ack, type }: OrderAnswer): string {
  const verb = ack.side === "long" ? "Buy" : "Sell";
  const status =
    ack.status === "canceled" && ack.filledSize > 0 ? "partly filled" : STATUS_WORDS[ack.status];
  return `${verb} ${type} ${status}`;
}
