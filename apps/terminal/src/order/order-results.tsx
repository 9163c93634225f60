/** The results of the last orders: fills, fee, latency and block. */

import { formatFee, formatMs } from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Fact } from "../ui/fact.js";
import { Icon } from "../ui/icons.js";
import { priceText, sizeText } from "../venue/market-view.js";
import type { OrderResult, SealState } from "../venue/order-client.js";
import { REASON_TEXTS } from "./advice.js";

export function OrderResults() {
  const { orders } = useTerminal();
  const results = useStore(orders.results);
  const [latest, ...earlier] = results;
  return (
    <div className="results" aria-live="polite">
      {latest !== undefined && <ResultCard result={latest} />}
      {earlier.slice(0, 3).map((result) => (
        <ResultLine key={result.ack.ackNonce} result={result} />
      ))}
    </div>
  );
}

function ResultCard({ result }: { readonly result: OrderResult }) {
  const { marketFeed } = useTerminal();
  const { ack, browserMs, seal, problems, replayed } = result;
  const view = marketFeed.view(ack.symbol);
  const base = view?.market.base ?? "";
  return (
    <section className="result" aria-label="Result of the last order" data-testid="result">
      <div className="result-head">
        <strong>{titleOf(result)}</strong>
        <SealChip seal={seal} problems={problems} />
      </div>
      {seal === "differs" && <p className="notice">{problemText(problems)}</p>}
      {ack.reason !== null && <p className="notice">{REASON_TEXTS[ack.reason] ?? ack.reason}</p>}
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
          <span data-testid="result-server-ms">{formatMs(ack.elapsedMs)}</span>
          <span className="faint"> venue · </span>
          <span data-testid="result-browser-ms">{formatMs(browserMs)}</span>
          <span className="faint"> here</span>
        </Fact>
        <Fact label="Block">
          <span data-testid="result-block">{ack.expectedBlock}</span>
          {result.leaf !== undefined && <span className="faint">, leaf {result.leaf}</span>}
        </Fact>
        <Fact label="Order">
          {ack.orderId}
          {replayed && <span className="faint"> (repeated)</span>}
        </Fact>
      </dl>
    </section>
  );
}

function ResultLine({ result }: { readonly result: OrderResult }) {
  return (
    <div className="result-line">
      <span>{titleOf(result)}</span>
      <span className="faint">{formatMs(result.ack.elapsedMs)}</span>
      <SealChip seal={result.seal} problems={result.problems} />
    </div>
  );
}

const SEALS: Readonly<Record<SealState, { tone: string; text: string; title: string }>> = {
  soft: { tone: "warn", text: "Soft", title: "Executed and durable. Its block is still open." },
  sealed: { tone: "good", text: "Sealed", title: "Its block is sealed." },
  proven: {
    tone: "good",
    text: "Sealed",
    title: "Verified in this page: the block's hash covers this acknowledgement.",
  },
  differs: {
    tone: "bad",
    text: "Differs",
    title: "The venue's proof does not match its acknowledgement",
  },
};

function SealChip({ seal, problems }: Pick<OrderResult, "seal" | "problems">) {
  const { tone, text, title } = SEALS[seal];
  const why = problems.length === 0 ? title : `${title}: ${problemText(problems)}`;
  return (
    <span className={`chip ${tone}`} title={why} data-testid="seal" data-seal={seal}>
      {seal === "proven" && <Icon name="check" />}
      {text}
    </span>
  );
}

function problemText(problems: OrderResult["problems"]): string {
  return problems.map(({ message }) => message).join("; ");
}

const STATUS_TEXTS = {
  filled: "filled",
  resting: "resting",
  pending: "waiting for its trigger",
  canceled: "canceled",
};

function titleOf({ ack, type }: OrderResult): string {
  const verb = ack.side === "long" ? "Buy" : "Sell";
  const status =
    ack.status === "canceled" && ack.filledSize > 0 ? "partly filled" : STATUS_TEXTS[ack.status];
  return `${verb} ${type} ${status}`;
}
