/**
 * The results of the last orders: what became of each, fee, latency, and how far its promise is proven.
 * Screen readers hear the outcome, not the steps of the proof that follow it.
 */

import "./receipts.css";
import { formatFee, formatMs } from "../format/numbers.js";
import { reasonText } from "../order/reasons.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Fact } from "../ui/fact.js";
import { Icon } from "../ui/icons.js";
import { saveFile } from "../ui/save-file.js";
import { priceText, sizeText } from "../venue/market-view.js";
import type { OrderResult } from "../venue/order-result.js";
import { ProofSteps, SealChip } from "./proof-steps.js";

/** Buttons that save the receipt and the proof of an order as files, for `perpgate judge` and `check`. */
function ReceiptFiles({ result }: { readonly result: OrderResult }) {
  const { sessions } = useTerminal();
  const { ack, proofFile } = result;
  const saveReceipt = () => {
    const file = sessions.session?.receipts.of(ack.ackNonce);
    if (file === undefined) return;
    saveFile(`order-${ack.orderId}.receipt`, JSON.stringify(file, undefined, 2));
  };
  return (
    <div className="receipt-files">
      <button
        type="button"
        className="button small"
        disabled={sessions.session?.receipts.of(ack.ackNonce) === undefined}
        onClick={saveReceipt}
      >
        Save receipt
      </button>
      <button
        type="button"
        className="button small"
        disabled={proofFile === undefined}
        onClick={() => saveFile(`order-${ack.orderId}.proof`, proofFile ?? "")}
      >
        Save proof
      </button>
    </div>
  );
}

export function OrderResults() {
  const { orders } = useTerminal();
  const results = useStore(orders.results);
  const unsettled = useStore(orders.unsettled.list);
  const [latest, ...earlier] = results;
  return (
    <div className="results">
      {unsettled.map(({ key, title }) => (
        <UnsettledCard key={key} title={title} />
      ))}
      {latest !== undefined && <ResultCard result={latest} />}
      {earlier.slice(0, 3).map((result) => (
        <ResultLine key={result.ack.ackNonce} result={result} />
      ))}
    </div>
  );
}

/** Next to the button: for screen readers, and on phones, where the result is further down. */
export function LastAnswer() {
  const { orders } = useTerminal();
  const latest = useStore(orders.results, ([newest]) => newest);
  return (
    <p className="last-answer" role="status">
      {latest === undefined ? "" : titleOf(latest)}
    </p>
  );
}

/** Sent without an answer: it is not known whether it was executed. */
function UnsettledCard({ title }: { readonly title: string }) {
  return (
    <p className="notice warn" role="alert" data-testid="unsettled">
      <strong>{title}: outcome unknown.</strong> It was sent, and the answer was lost. The page asks
      the venue as soon as the line is back; do not send it again.
    </p>
  );
}

function ResultCard({ result }: { readonly result: OrderResult }) {
  const { marketFeed } = useTerminal();
  const { ack, live, browserMs, replayed } = result;
  const view = marketFeed.view(ack.symbol);
  const base = view?.market.base ?? "";
  return (
    <section className="result" aria-label="Result of the last order" data-testid="result">
      <div className="result-head">
        <strong>{titleOf(result)}</strong>
      </div>
      <ProofSteps result={result} />
      {live.reason !== null && (
        <p className="notice">{reasonText(live.reason, live.filledSize > 0)}</p>
      )}
      <dl className="facts">
        <Fact label="Side" className={ack.side}>
          {ack.side === "long" ? "Buy / Long" : "Sell / Short"}
        </Fact>
        <Fact label="Size">
          {sizeText(view, live.filledSize + live.remainingSize)} {base}
        </Fact>
        <Fact label="Price" testId="result-price">
          {live.filledSize > 0 ? priceText(view, live.avgFillPrice) : "—"}
        </Fact>
        <Fact label="Status">
          <span className={`chip ${STATUS_LOOKS[live.status].tone}`}>
            <Icon name={STATUS_LOOKS[live.status].icon} />
            {STATUS_TEXTS[live.status]}
          </span>
        </Fact>
        <Fact label="Filled" testId="result-filled">
          {sizeText(view, live.filledSize)} {base}
        </Fact>
        {live.remainingSize > 0 && (
          <Fact label={live.status === "canceled" ? "Canceled" : "Waiting"}>
            {sizeText(view, live.remainingSize)} {base}
          </Fact>
        )}
        <Fact label="Fee">{formatFee(ack.feePaid)}</Fact>
        <Fact label="Preconfirmed in">
          <span data-testid="result-server-ms">{formatMs(ack.elapsedMs)}</span>
          <span className="faint"> venue</span>
          {!replayed && (
            <>
              <span className="faint"> · </span>
              <span data-testid="result-browser-ms">{formatMs(browserMs)}</span>
              <span className="faint"> here</span>
            </>
          )}
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
      <ReceiptFiles result={result} />
    </section>
  );
}

function ResultLine({ result }: { readonly result: OrderResult }) {
  return (
    <div className="result-line">
      <span>{titleOf(result)}</span>
      <span className="faint">{formatMs(result.ack.elapsedMs)}</span>
      <SealChip result={result} />
    </div>
  );
}

const STATUS_TEXTS = {
  filled: "filled",
  resting: "resting",
  pending: "waiting for its trigger",
  canceled: "canceled",
};

const STATUS_LOOKS = {
  filled: { tone: "good", icon: "check" },
  resting: { tone: "", icon: "wait" },
  pending: { tone: "", icon: "wait" },
  canceled: { tone: "warn", icon: "close" },
} as const;

function titleOf({ ack, live, type }: OrderResult): string {
  const verb = ack.side === "long" ? "Buy" : "Sell";
  const isPartly = live.filledSize > 0 && live.status !== "filled";
  const status = isPartly
    ? live.status === "canceled"
      ? "partly filled"
      : `partly filled, ${STATUS_TEXTS[live.status]}`
    : STATUS_TEXTS[live.status];
  return `${verb} ${type} ${status}`;
}
