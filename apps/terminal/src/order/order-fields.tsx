/** The fields of the order form. */

import { fromMicros, NotInUnits, toMicrosFloor, toSteps } from "@perpgate/protocol/core";
import { type CSSProperties, useEffect } from "react";
import { formatAvailable } from "../format/numbers.js";
import { largestMargin } from "../maths/order-preview.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import type { MarketView } from "../venue/market-view.js";
import { changeForm, numberIn, type OrderForm } from "./order-form-state.js";

interface FieldProps {
  readonly view: MarketView;
  readonly form: OrderForm;
  readonly isWrong: boolean;
}

export function PriceField({ view, form, isWrong }: FieldProps) {
  const { marketFeed } = useTerminal();
  const problem = priceProblem(view, form.price);
  const useMark = () => {
    const mark = marketFeed.ticker(view.market.symbol).get()?.mark;
    if (mark !== null && mark !== undefined) changeForm({ price: mark.toFixed(view.priceDigits) });
  };
  return (
    <label className="field">
      <span className="label">{form.type === "stop" ? "Trigger price" : "Price"}</span>
      <span className={`box ${isWrong || problem !== undefined ? "wrong" : ""}`}>
        <input
          inputMode="decimal"
          autoComplete="off"
          placeholder={(0).toFixed(view.priceDigits)}
          value={form.price}
          aria-invalid={isWrong || problem !== undefined}
          onChange={(event) => changeForm({ price: event.target.value })}
        />
        <span className="unit">{view.market.quote}</span>
        <button type="button" className="inside" onClick={useMark}>
          Mark
        </button>
      </span>
      {problem !== undefined && <span className="short hint">{problem}</span>}
    </label>
  );
}

function priceProblem({ units, market }: MarketView, text: string): string | undefined {
  if (text.trim() === "") return undefined;
  const price = numberIn(text);
  if (price === undefined || price <= 0) return "Enter a positive number";
  try {
    toSteps(price, units.tick);
    return undefined;
  } catch (error) {
    if (error instanceof NotInUnits) return `Use a multiple of ${market.tickSize}`;
    throw error;
  }
}

const SHARES = [
  ["25%", 0.25],
  ["50%", 0.5],
  ["75%", 0.75],
  ["Max", 1],
] as const;

export function MarginField({ view, form, isWrong }: FieldProps) {
  const { account } = useTerminal();
  const available = useStore(account.account, (value) => value?.available);
  const fill = (share: number) => {
    if (available === undefined) return;
    const { takerPpm } = view.units;
    const most = fromMicros(largestMargin(toMicrosFloor(available), form.leverage, takerPpm));
    // Rounded down to cents, so that the venue accepts it.
    changeForm({ margin: (Math.floor(most * share * 100) / 100).toFixed(2) });
  };
  return (
    <div className="field">
      <label className="field">
        <span className="label">
          Margin
          {available !== undefined && <span>Available {formatAvailable(available)}</span>}
        </span>
        <span className={`box ${isWrong ? "wrong" : ""}`}>
          <input
            inputMode="decimal"
            autoComplete="off"
            placeholder="0.00"
            value={form.margin}
            aria-invalid={isWrong}
            onChange={(event) => changeForm({ margin: event.target.value })}
          />
          <span className="unit">{view.market.quote}</span>
        </span>
      </label>
      <div className="shares">
        {SHARES.map(([label, share]) => (
          <button
            key={label}
            type="button"
            className="button small"
            disabled={available === undefined || available <= 0}
            onClick={() => fill(share)}
          >
            {label}
          </button>
        ))}
      </div>
    </div>
  );
}

export function LeverageField({ view, form }: Omit<FieldProps, "isWrong">) {
  const { maxLeverage } = view.market;
  useEffect(() => {
    if (form.leverage > maxLeverage) changeForm({ leverage: maxLeverage });
  }, [form.leverage, maxLeverage]);
  return (
    <label className="field">
      <span className="label">
        Leverage <strong className="leverage">{form.leverage}×</strong>
      </span>
      <input
        type="range"
        className="slider"
        style={shareStyle((form.leverage - 1) / Math.max(1, maxLeverage - 1))}
        min={1}
        max={maxLeverage}
        step={1}
        value={Math.min(form.leverage, maxLeverage)}
        aria-valuetext={`${form.leverage} times, at most ${maxLeverage}`}
        onChange={(event) => changeForm({ leverage: Number(event.target.value) })}
      />
      <span className="ends" aria-hidden="true">
        <span>1×</span>
        <span>{maxLeverage}×</span>
      </span>
    </label>
  );
}

/** React's types do not know custom properties. */
function shareStyle(share: number): CSSProperties {
  const style: CSSProperties & { readonly "--share": string } = {
    "--share": `${Math.round(Math.min(1, share) * 1_000) / 10}%`,
  };
  return style;
}

export function FlagFields({ form }: { readonly form: OrderForm }) {
  return (
    <div className="flags">
      <label className="check">
        <input
          type="checkbox"
          checked={form.reduceOnly}
          onChange={(event) => changeForm({ reduceOnly: event.target.checked })}
        />
        Reduce-only
      </label>
      <label className="check">
        <input
          type="checkbox"
          checked={form.type === "limit" && form.postOnly}
          disabled={form.type !== "limit"}
          onChange={(event) => changeForm({ postOnly: event.target.checked })}
        />
        Post-only
      </label>
    </div>
  );
}
