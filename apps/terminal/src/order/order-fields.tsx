/** Leverage and flags of the order form. */

import { type CSSProperties, useEffect, useId } from "react";
import { t } from "../text/texts.js";
import { NumberField } from "../ui/number-field.js";
import type { MarketView } from "../venue/market-view.js";
import { changeForm, numberIn, type OrderForm } from "./order-form-state.js";
import { canHaveExits, canRest, leverageIn } from "./order-terms.js";

interface FieldProps {
  readonly view: MarketView;
  readonly form: OrderForm;
  readonly problem: string | undefined;
}

export function LeverageField({ view, form, problem }: FieldProps) {
  const { maxLeverage } = view.market;
  const id = useId();
  const typed = numberIn(form.leverage) ?? 1;
  const leverage = leverageIn(form, view) ?? Math.max(1, Math.min(maxLeverage, Math.round(typed)));
  useEffect(() => {
    // Another market may allow less.
    const known = numberIn(form.leverage);
    if (known !== undefined && known > maxLeverage) changeForm({ leverage: String(maxLeverage) });
  }, [form.leverage, maxLeverage]);
  return (
    <div className="field">
      <label className="unseen" htmlFor={id}>
        {t.form.leverage}
      </label>
      <div className="leverage-row">
        <input
          id={id}
          type="range"
          className="slider"
          style={shareStyle((leverage - 1) / Math.max(1, maxLeverage - 1))}
          min={1}
          max={maxLeverage}
          step={1}
          value={leverage}
          aria-valuetext={t.form.leverageText(leverage, maxLeverage)}
          onChange={(event) => changeForm({ leverage: event.target.value })}
        />
        <NumberField
          label={t.form.leverageTimes}
          value={form.leverage}
          problem={problem}
          onChange={(text) => changeForm({ leverage: text })}
        />
      </div>
    </div>
  );
}

/** Of a slider. React's types do not know custom properties. */
export function shareStyle(share: number): CSSProperties {
  const style: CSSProperties & { readonly "--share": string } = {
    "--share": `${Math.round(Math.min(1, share) * 1_000) / 10}%`,
  };
  return style;
}

export function FlagFields({ form }: { readonly form: OrderForm }) {
  const canBePostOnly = form.type === "limit" && canRest(form);
  return (
    <div className="flags">
      <Flag
        label={t.words.reduceOnly}
        isOn={form.reduceOnly}
        onChange={(reduceOnly) => changeForm({ reduceOnly })}
      />
      {form.type === "limit" && (
        <Flag
          label={t.words.postOnly}
          isOn={canBePostOnly && form.postOnly}
          isOff={!canBePostOnly}
          onChange={(postOnly) => changeForm({ postOnly })}
        />
      )}
      <Flag
        label={t.words.exits}
        title={canHaveExits(form) ? t.form.exitsTitle : t.form.noExitsTitle}
        isOn={form.hasExits && canHaveExits(form)}
        isOff={!canHaveExits(form)}
        onChange={(hasExits) => changeForm({ hasExits })}
      />
    </div>
  );
}

interface FlagProps {
  readonly label: string;
  readonly title?: string;
  readonly isOn: boolean;
  readonly isOff?: boolean;
  readonly onChange: (isOn: boolean) => void;
}

function Flag({ label, title, isOn, isOff = false, onChange }: FlagProps) {
  return (
    <label className="check" title={title}>
      <input
        type="checkbox"
        checked={isOn}
        disabled={isOff}
        onChange={(event) => onChange(event.target.checked)}
      />
      {label}
    </label>
  );
}
