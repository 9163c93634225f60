/** What is said of the last orders before their results are loaded: the newest one's outcome, and what has no answer. */

import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import type { OrderResult } from "../venue/order-result.js";
import "./receipts.css";

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

export function UnsettledOrders() {
  const { orders } = useTerminal();
  const unsettled = useStore(orders.unsettled.list);
  return unsettled.map(({ key, title }) => <UnsettledCard key={key} title={title} />);
}

/** Sent without an answer: it is not known whether it was executed. */
function UnsettledCard({ title }: { readonly title: string }) {
  return (
    <p className="notice warn" role="alert" data-testid="unsettled">
      <strong>{t.results.unknown(title)}</strong> {t.results.unknownText}
    </p>
  );
}

export function titleOf({ ack, live, type }: OrderResult): string {
  const isPartly = live.filledSize > 0 && live.status !== "filled";
  const status = isPartly
    ? live.status === "canceled"
      ? t.results.partlyFilled
      : t.results.partlyFilledAnd(t.results.status[live.status])
    : t.results.status[live.status];
  return t.results.title(t.words.acts[ack.side], t.words.typesInSentence[type], status);
}
