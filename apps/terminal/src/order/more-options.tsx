/** Options that most orders do not need, folded away. */

import type { TimeInForce, Trigger } from "@perpgate/protocol";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
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

const TIMES: readonly TimeInForce[] = ["gtc", "ioc", "fok"];
const TRIGGERS: readonly Trigger[] = ["stop", "takeProfit"];
const HOUR_MS = 3_600_000;
const EXPIRIES = [
  [0, "never"],
  [HOUR_MS, "hour"],
  [24 * HOUR_MS, "day"],
  [7 * 24 * HOUR_MS, "week"],
  [30 * 24 * HOUR_MS, "month"],
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
        {t.form.more} <span className="faint">{chosenIn(form, maxSlippage)}</span>
      </summary>
      <div className="more-body">
        {form.type === "limit" && (
          <Segments
            legend={t.form.timesLabel}
            name="time-in-force"
            className="compact"
            options={TIMES}
            labels={t.form.times}
            selected={form.timeInForce}
            onSelect={(timeInForce) => changeForm({ timeInForce })}
          />
        )}
        {form.type === "stop" && <StopOptions view={view} form={form} problems={problems} />}
        {form.type !== "market" && <ExpiryChoice form={form} />}
        {form.type === "market" && (
          <NumberField
            label={t.form.maxSlippage}
            value={maxSlippage}
            unit="%"
            problem={slippageProblem(maxSlippage)}
            onChange={(text) => changeSettings({ maxSlippage: text })}
          />
        )}
        <button type="button" className="button small" onClick={() => dialog.set("scale")}>
          {t.scale.open}
        </button>
        <NumberField
          label={t.form.confirmAbove}
          value={confirmAbove}
          placeholder={t.form.never}
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
          {t.form.asksFirst}
        </label>
      </div>
    </details>
  );
}

function StopOptions({ view, form, problems }: Props) {
  return (
    <>
      <Segments
        legend={t.form.triggersLabel}
        name="trigger"
        className="compact"
        options={TRIGGERS}
        labels={t.form.triggers}
        selected={form.trigger}
        onSelect={(trigger) => changeForm({ trigger })}
      />
      <NumberField
        label={t.form.limitOnceTriggered}
        value={form.limitPrice}
        placeholder={t.form.market}
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
      <span className="label">{t.form.expires}</span>
      <select
        className="choice tall"
        value={canRest(form) ? form.expiresInMs : 0}
        disabled={!canRest(form)}
        onChange={(event) => changeForm({ expiresInMs: Number(event.target.value) })}
      >
        {EXPIRIES.map(([ms, name]) => (
          <option key={ms} value={ms}>
            {t.form.expiries[name]}
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
      ? t.form.slippageUpTo(maxSlippage)
      : t.form.slippageToCorrect;
  }
  const words: string[] = [];
  if (form.type === "limit" && form.timeInForce !== "gtc") {
    words.push(t.form.timesInShort[form.timeInForce]);
  }
  if (form.type === "stop" && form.trigger === "takeProfit") words.push(t.form.asTakeProfit);
  if (form.type === "stop" && form.limitPrice.trim() !== "") words.push(t.form.withLimit);
  if (form.expiresInMs > 0 && canRest(form)) words.push(t.form.withExpiry);
  return words.join(", ");
}
