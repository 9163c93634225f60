/**
 * The results of the last orders: what became of each, fee, latency, and how far its promise is proven.
 * Screen readers hear the outcome, not the steps of the proof that follow it.
 */

import { formatFee, formatMs } from "../format/numbers.js";
import { reasonText } from "../order/reasons.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Fact } from "../ui/fact.js";
import { Icon } from "../ui/icons.js";
import { saveFile } from "../ui/save-file.js";
import { priceText, sizeText } from "../venue/market-view.js";
import type { OrderResult } from "../venue/order-result.js";
import { titleOf } from "./last-answer.js";
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
        {t.results.saveReceipt}
      </button>
      <button
        type="button"
        className="button small"
        disabled={proofFile === undefined}
        onClick={() => saveFile(`order-${ack.orderId}.proof`, proofFile ?? "")}
      >
        {t.results.saveProof}
      </button>
    </div>
  );
}

export default function OrderResults() {
  const { orders } = useTerminal();
  const [latest, ...earlier] = useStore(orders.results);
  return (
    <>
      {latest !== undefined && <ResultCard result={latest} />}
      {earlier.slice(0, 3).map((result) => (
        <ResultLine key={result.ack.ackNonce} result={result} />
      ))}
    </>
  );
}

function ResultCard({ result }: { readonly result: OrderResult }) {
  const { marketFeed } = useTerminal();
  const { ack, live, browserMs, replayed } = result;
  const view = marketFeed.view(ack.symbol);
  const base = view?.market.base ?? "";
  return (
    <section className="result" aria-label={t.results.label} data-testid="result">
      <div className="result-head">
        <strong>{titleOf(result)}</strong>
      </div>
      <ProofSteps result={result} />
      {live.reason !== null && (
        <p className="notice">{reasonText(live.reason, live.filledSize > 0)}</p>
      )}
      <dl className="facts">
        <Fact label={t.words.side} className={ack.side}>
          {t.words.sides[ack.side]}
        </Fact>
        <Fact label={t.words.size}>
          {sizeText(view, live.filledSize + live.remainingSize)} {base}
        </Fact>
        <Fact label={t.words.price} testId="result-price">
          {live.filledSize > 0 ? priceText(view, live.avgFillPrice) : "—"}
        </Fact>
        <Fact label={t.words.status}>
          <span className={`chip ${STATUS_LOOKS[live.status].tone}`}>
            <Icon name={STATUS_LOOKS[live.status].icon} />
            {t.results.status[live.status]}
          </span>
        </Fact>
        <Fact label={t.results.filled} testId="result-filled">
          {sizeText(view, live.filledSize)} {base}
        </Fact>
        {live.remainingSize > 0 && (
          <Fact label={live.status === "canceled" ? t.results.canceled : t.results.waiting}>
            {sizeText(view, live.remainingSize)} {base}
          </Fact>
        )}
        <Fact label={t.words.fee}>{formatFee(ack.feePaid)}</Fact>
        <Fact label={t.results.preconfirmedIn}>
          <span data-testid="result-server-ms">{formatMs(ack.elapsedMs)}</span>
          <span className="faint"> {t.results.venue}</span>
          {!replayed && (
            <>
              <span className="faint"> · </span>
              <span data-testid="result-browser-ms">{formatMs(browserMs)}</span>
              <span className="faint"> {t.results.here}</span>
            </>
          )}
        </Fact>
        <Fact label={t.results.block}>
          <span data-testid="result-block">{ack.expectedBlock}</span>
          {result.leaf !== undefined && (
            <span className="faint">{t.results.leaf(result.leaf)}</span>
          )}
        </Fact>
        <Fact label={t.results.order}>
          {ack.orderId}
          {replayed && <span className="faint"> {t.results.repeated}</span>}
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

const STATUS_LOOKS = {
  filled: { tone: "good", icon: "check" },
  resting: { tone: "", icon: "wait" },
  pending: { tone: "", icon: "wait" },
  canceled: { tone: "warn", icon: "close" },
} as const;
