/** Take profit and stop loss of the order: at either price what it has opened is closed at the market. */

import { fromSteps } from "@perpgate/protocol/core";
import { formatFixed, formatSigned } from "../format/numbers.js";
import { isBeyondLiquidation } from "../maths/position-maths.js";
import { t } from "../text/texts.js";
import { NumberField } from "../ui/number-field.js";
import { Segments } from "../ui/segments.js";
import type { MarketView } from "../venue/market-view.js";
import { type ExitName, exitTicks } from "./exit-terms.js";
import { changeForm, type ExitUnit, type OrderForm } from "./order-form-state.js";
import { directionOf, exitBase } from "./order-terms.js";
import type { FormEstimate } from "./use-preview.js";

const UNITS: readonly ExitUnit[] = ["price", "percent", "roi"];

interface Props {
  readonly view: MarketView;
  readonly form: OrderForm;
  readonly estimate: FormEstimate;
}

export function ExitFields({ view, form, estimate }: Props) {
  const { problems } = estimate.read;
  const field = (name: ExitName) => ({
    placeholder: t.words.none,
    unit: form.exitUnit === "price" ? view.market.quote : "%",
    value: form[name],
    problem: problems[name],
    hint: hintOf(view, form, name, estimate),
    onChange: (text: string) => changeForm({ [name]: text }),
  });
  return (
    <>
      <Segments
        legend={t.form.exitUnitsLabel}
        name="exit-unit"
        className="compact"
        options={UNITS}
        labels={t.form.exitUnits}
        selected={form.exitUnit}
        // A number of another unit means something else.
        onSelect={(exitUnit) => changeForm({ exitUnit, takeProfit: "", stopLoss: "" })}
      />
      <div className="pair">
        <NumberField label={t.words.takeProfit} {...field("takeProfit")} />
        <NumberField label={t.words.stopLoss} {...field("stopLoss")} />
      </div>
    </>
  );
}

/** The price that is sent, and what it brings before fees once the whole order has filled. */
function hintOf(
  { units, priceDigits }: MarketView,
  form: OrderForm,
  name: ExitName,
  { context, preview }: FormEstimate,
): string | undefined {
  const ticks = exitTicks(form, name, units.tick, exitBase(form, units, context?.markTicks));
  if (ticks === undefined) return undefined;
  const price = formatFixed(fromSteps(ticks, units.tick), priceDigits);
  const lots = (preview?.takingLots ?? 0) + (preview?.waitingLots ?? 0);
  const direction = directionOf(form);
  const isTooFar =
    name === "stopLoss" && isBeyondLiquidation(ticks, preview?.liquidationTicks, direction);
  if (preview === undefined || lots === 0 || isTooFar) return price;
  const micros = direction * lots * units.unit * (ticks - preview.averageTicks);
  return `${price} · ${formatSigned(micros / 1e6, 2)}`;
}
