/** The estimate of the order in the form: what it buys, what it costs, and what is left. */

import { fromMicros, fromSteps } from "@perpgate/protocol/core";
import {
  formatAvailable,
  formatDollars,
  formatFee,
  formatFixed,
  formatPercent,
  NO_VALUE,
} from "../format/numbers.js";
import type { OrderPreview } from "../maths/order-preview.js";
import { RISK_TONES, type Risk, riskOf } from "../maths/position-risk.js";
import { t } from "../text/texts.js";
import { Fact } from "../ui/fact.js";
import type { MarketView } from "../venue/market-view.js";
import type { OrderForm } from "./order-form-state.js";
import { orderNotes, slippageOf } from "./order-notes.js";
import type { FormEstimate } from "./use-preview.js";

interface Props {
  readonly view: MarketView;
  readonly form: OrderForm;
  readonly estimate: FormEstimate;
}

export function PreviewFacts({ view, form, estimate }: Props) {
  const { base, quote } = view.market;
  const { preview, context } = estimate;
  const facts = factsOf(view, preview);
  const left =
    preview === undefined || context === undefined
      ? undefined
      : fromMicros(context.walletMicros - preview.walletMicros);
  const slippage = slippageOf(preview, context);
  const risk = riskAfter(form, estimate);
  const tone = risk === undefined ? "" : RISK_TONES[risk.level];
  return (
    <dl className="facts preview" aria-label={t.form.estimate}>
      <Fact label={t.words.size} testId="preview-size">
        {facts.size} {base}
      </Fact>
      <Fact label={t.words.orderValue} testId="preview-notional">
        {facts.notional} {quote}
      </Fact>
      <Fact label={t.words.average}>{facts.average}</Fact>
      {form.type === "market" && (
        <Fact
          label={t.form.slippage}
          testId="preview-slippage"
          className={slippage?.isLarge === true ? "warn-text" : ""}
        >
          {slippage === undefined
            ? NO_VALUE
            : `${formatPercent(slippage.share, 3)} · ${formatDollars(slippage.dollars)}`}
        </Fact>
      )}
      <Fact label={t.words.fee} testId="preview-fee">
        {facts.fee} {quote}
      </Fact>
      <Fact label={t.words.cost} testId="preview-cost">
        {facts.cost} {quote}
      </Fact>
      <Fact
        label={t.form.leftAfter}
        testId="preview-left"
        className={left !== undefined && left < 0 ? "short" : ""}
      >
        {left === undefined ? NO_VALUE : formatAvailable(left)} {quote}
      </Fact>
      <Fact label={t.words.liquidationPrice} testId="preview-liquidation" className={tone}>
        {facts.liquidation}
        {risk !== undefined && risk.distance !== null && ` (${formatPercent(risk.distance, 1)})`}
      </Fact>
      <Fact label={t.form.marginRatio} testId="preview-ratio" className={tone}>
        {risk === undefined ? NO_VALUE : `${formatFixed(risk.ratio * 100, 1)}%`}
      </Fact>
    </dl>
  );
}

/** Of the position once the order has filled: what waits fills when the mark is about at its price. */
function riskAfter(form: OrderForm, { preview, context, read }: FormEstimate): Risk | undefined {
  if (preview === undefined || context === undefined) return undefined;
  const waits = preview.waitingLots > 0 && form.type !== "market";
  const markTicks = waits ? read.terms?.intent.priceTicks : undefined;
  return riskOf(context.units, preview.after, markTicks ?? context.markTicks);
}

/** They come and go with the market, so nothing that is pressed stands below them in the form. */
export function OrderNotes({ view, form, estimate }: Props) {
  return orderNotes(view, form, estimate).map(({ text, isWarning }) => (
    <p key={text} className={isWarning ? "notice warn" : "notice"} data-testid="order-note">
      {text}
    </p>
  ));
}

function factsOf(view: MarketView, preview: OrderPreview | undefined) {
  if (preview === undefined) {
    return {
      size: NO_VALUE,
      notional: NO_VALUE,
      average: NO_VALUE,
      fee: NO_VALUE,
      cost: NO_VALUE,
      liquidation: NO_VALUE,
    };
  }
  const { units, priceDigits, sizeDigits } = view;
  const lots = preview.takingLots + preview.waitingLots;
  const { liquidationTicks: ticks } = preview;
  return {
    size: formatFixed(fromSteps(lots, units.lot), sizeDigits),
    notional: formatDollars(fromMicros(preview.notionalMicros)),
    average:
      lots === 0 ? NO_VALUE : formatFixed(preview.averageTicks * units.tick.size, priceDigits),
    fee: formatFee(fromMicros(preview.feeMicros)),
    cost: formatDollars(fromMicros(preview.walletMicros)),
    liquidation: ticks === null ? NO_VALUE : formatFixed(fromSteps(ticks, units.tick), priceDigits),
  };
}
