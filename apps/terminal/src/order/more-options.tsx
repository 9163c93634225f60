/** Options that most orders do not need, folded away. */

import type { TimeInForce, Trigger } from "@perpgate/protocol";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { NumberField } from "../ui/number-field.js";
import { Segments } from "../ui/segments.js";
import type { MarketView } from "../venue/market-view.js";
import { changeForm, type OrderForm } from "./order-form-state.js";
import {
  changeSettings,
  confirmProblem,
  orderSettings,
  slippageProblem,
} from "./order-settings.js";
import { canRest, type ReadForm } from "./order-terms.js";

const TIMES: readonly (readonly [TimeInForce, string])[] = [
  ["gtc", "Until canceled"],
  ["ioc", "Immediate"],
  ["fok", "All or none"],
];
const TRIGGERS: readonly (readonly [Trigger, string])[] = [
  ["stop", "As a stop"],
  ["takeProfit", "As a take profit"],
];
const HOUR_MS = 3_600_000;
const EXPIRIES = [
  [0, "Never"],
  [HOUR_MS, "In 1 hour"],
  [24 * HOUR_MS, "In 1 day"],
  [7 * 24 * HOUR_MS, "In 1 week"],
  [30 * 24 * HOUR_MS, "In 30 days"],
] as const;

interface Props {
  readonly view: MarketView;
  readonly form: OrderForm;
  readonly problems: ReadForm["problems"];
}

export function MoreOptions({ view, form, problems }: Props) {
  const { dialog } = useTerminal();
  const { maxSlippage, confirmAbove, asksFirst } = useStore(orderSettings);
  return (
    <details className="more">
      <summary>
        More options <span className="faint">{chosenIn(form, maxSlippage)}</span>
      </summary>
      <div className="more-body">
        {form.type === "limit" && (
          <Segments
            legend="Time in force"
            name="time-in-force"
            className="compact"
            options={TIMES}
            selected={form.timeInForce}
            onSelect={(timeInForce) => changeForm({ timeInForce })}
          />
        )}
        {form.type === "stop" && <StopOptions view={view} form={form} problems={problems} />}
        {form.type !== "market" && <ExpiryChoice form={form} />}
        {form.type === "market" && (
          <NumberField
            label="Max. slippage from the mark"
            value={maxSlippage}
            unit="%"
            problem={slippageProblem(maxSlippage)}
            onChange={(text) => changeSettings({ maxSlippage: text })}
          />
        )}
        <button type="button" className="button small" onClick={() => dialog.set("scale")}>
          Scale orders…
        </button>
        <NumberField
          label="Confirm orders above"
          value={confirmAbove}
          placeholder="never"
          unit={view.market.quote}
          problem={confirmProblem(confirmAbove)}
          onChange={(text) => changeSettings({ confirmAbove: text })}
        />
        <label className="check">
          <input
            type="checkbox"
            checked={asksFirst}
            onChange={({ target }) => changeSettings({ asksFirst: target.checked })}
          />
          Ask before Close, Cancel all and Sign out
        </label>
      </div>
    </details>
  );
}

function StopOptions({ view, form, problems }: Props) {
  return (
    <>
      <Segments
        legend="Trigger"
        name="trigger"
        className="compact"
        options={TRIGGERS}
        selected={form.trigger}
        onSelect={(trigger) => changeForm({ trigger })}
      />
      <NumberField
        label="Limit once triggered"
        value={form.limitPrice}
        placeholder="market"
        unit={view.market.quote}
        problem={problems.limitPrice}
        onChange={(limitPrice) => changeForm({ limitPrice })}
      />
    </>
  );
}

function ExpiryChoice({ form }: { readonly form: OrderForm }) {
  return (
    <label className="field">
      <span className="label">Expires</span>
      <select
        className="choice tall"
        value={canRest(form) ? form.expiresInMs : 0}
        disabled={!canRest(form)}
        onChange={(event) => changeForm({ expiresInMs: Number(event.target.value) })}
      >
        {EXPIRIES.map(([ms, label]) => (
          <option key={ms} value={ms}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What is not as usual, in a few words. */
function chosenIn(form: OrderForm, maxSlippage: string): string {
  if (form.type === "market") {
    return slippageProblem(maxSlippage) === undefined
      ? `slippage up to ${maxSlippage}%`
      : "max. slippage to correct";
  }
  const words: string[] = [];
  if (form.type === "limit" && form.timeInForce !== "gtc") {
    words.push(TIMES.find(([value]) => value === form.timeInForce)?.[1] ?? "");
  }
  if (form.type === "stop" && form.trigger === "takeProfit") words.push("take profit");
  if (form.type === "stop" && form.limitPrice.trim() !== "") words.push("with a limit");
  if (form.expiresInMs > 0 && canRest(form)) words.push("expires");
  return words.join(", ").toLowerCase();
}
