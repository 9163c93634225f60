/** The estimate of the order in the form. */

import { fromMicros, fromSteps } from "@perpgate/protocol/core";
import { formatDollars, formatFee, formatFixed, NONE } from "../format/numbers.js";
import type { OrderPreview } from "../maths/order-preview.js";
import { Fact } from "../ui/fact.js";
import type { MarketView } from "../venue/market-view.js";
import { usePreview } from "./use-preview.js";

export function PreviewFacts({ view }: { readonly view: MarketView }) {
  const preview = usePreview(view);
  const { base, quote } = view.market;
  const facts = factsOf(view, preview);
  return (
    <dl className="facts preview" aria-label="Estimate">
      <Fact label="Size" testId="preview-size">
        {facts.size} {base}
      </Fact>
      <Fact label="Order value" testId="preview-notional">
        {facts.notional} {quote}
      </Fact>
      <Fact label="Average price">{facts.average}</Fact>
      <Fact label="Fee" testId="preview-fee">
        {facts.fee} {quote}
      </Fact>
      <Fact label="Liquidation price" testId="preview-liquidation" className="warn-text">
        {facts.liquidation}
      </Fact>
      {facts.note !== undefined && <div className="notice">{facts.note}</div>}
    </dl>
  );
}

function factsOf(view: MarketView, preview: OrderPreview | undefined) {
  if (preview === undefined) {
    return { size: NONE, notional: NONE, average: NONE, fee: NONE, liquidation: NONE };
  }
  const { units, priceDigits, sizeDigits } = view;
  const lots = preview.takingLots + preview.waitingLots;
  const { liquidationTicks: ticks } = preview;
  return {
    size: formatFixed(fromSteps(lots, units.lot), sizeDigits),
    notional: formatDollars(fromMicros(preview.notionalMicros)),
    average: lots === 0 ? NONE : formatFixed(preview.averageTicks * units.tick.size, priceDigits),
    fee: formatFee(fromMicros(preview.feeMicros)),
    liquidation: ticks === null ? NONE : formatFixed(fromSteps(ticks, units.tick), priceDigits),
    note: noteOn(view, preview, lots),
  };
}

function noteOn(view: MarketView, preview: OrderPreview, lots: number): string | undefined {
  if (preview.unspentMicros > 0) {
    const unspent = formatDollars(fromMicros(preview.unspentMicros));
    return lots === 0
      ? "There are no orders on the other side. Place a limit order instead."
      : `The book cannot fill all of it: ${unspent} would stay unspent.`;
  }
  return lots === 0 ? `Less than one lot (${view.market.lotSize} ${view.market.base}).` : undefined;
}
