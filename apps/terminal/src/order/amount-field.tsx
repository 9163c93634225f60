/** How large the order is: margin, value or size, typed or as a share of the largest order. */

import { fromMicros, fromSteps } from "@perpgate/protocol/core";
import { useEffect, useState } from "react";
import { useRefresh } from "../account/live-pnl.js";
import { SortedLevels } from "../book/levels.js";
import { floorToCents, formatAvailable } from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { type Terminal, useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { NumberField } from "../ui/number-field.js";
import type { MarketView } from "../venue/market-view.js";
import { shareStyle } from "./order-fields.js";
import { changeForm, type OrderForm } from "./order-form-state.js";
import { leverageIn } from "./order-terms.js";
import { largestNow } from "./use-preview.js";

const SHARES = [0.25, 0.5, 0.75, 1];

interface Props {
  readonly view: MarketView;
  readonly form: OrderForm;
  readonly problem: string | undefined;
  readonly isWrong: boolean;
}

export function AmountField({ view, form, problem, isWrong }: Props) {
  const terminal = useTerminal();
  const available = useStore(terminal.account.account, (value) => value?.available);
  const [levels] = useState(() => new SortedLevels());
  useFollowedShare(terminal, view, form, levels);
  const choose = (share: number) => {
    if (share === 0) {
      changeForm({ share, amount: "" });
      return;
    }
    const amount = amountOf(terminal, view, { ...form, share }, levels);
    if (amount !== undefined) changeForm({ share, amount });
  };
  const { base, quote } = view.market;
  return (
    <div className="field">
      <NumberField
        label={t.form.amounts[form.unit]}
        aside={
          available !== undefined && (
            <span>{`${t.words.available} ${formatAvailable(available)}`}</span>
          )
        }
        value={form.amount}
        placeholder={form.unit === "size" ? (0).toFixed(view.sizeDigits) : "0.00"}
        problem={problem}
        isWrong={isWrong}
        onChange={(amount) => changeForm({ amount, share: 0 })}
      >
        <select
          className="inside"
          aria-label={t.form.amountIn}
          value={form.unit}
          onChange={(event) => chooseUnit(event.target.value)}
        >
          <option value="margin">{t.words.units.margin(quote)}</option>
          <option value="value">{t.words.units.value(quote)}</option>
          <option value="size">{base}</option>
        </select>
      </NumberField>
      <input
        type="range"
        className="slider"
        aria-label={t.form.share}
        style={shareStyle(form.share)}
        min={0}
        max={100}
        step={1}
        value={Math.round(form.share * 100)}
        aria-valuetext={`${Math.round(form.share * 100)}%`}
        disabled={available === undefined}
        onChange={({ target }) => choose(Number(target.value) / 100)}
      />
      <div className="shares">
        {SHARES.map((share) => (
          <button
            key={share}
            type="button"
            className="button small"
            aria-pressed={form.share === share}
            disabled={available === undefined}
            onClick={() => choose(share)}
          >
            {share === 1 ? t.words.max : `${share * 100}%`}
          </button>
        ))}
      </div>
    </div>
  );
}

/** An amount of another unit means something else: it is cleared. */
function chooseUnit(value: string): void {
  const unit = value === "size" || value === "value" ? value : "margin";
  changeForm({ unit, amount: "", share: 0 });
}

/** A chosen share follows book, mark and wallet until an amount is typed. */
function useFollowedShare(
  terminal: Terminal,
  view: MarketView,
  form: OrderForm,
  levels: SortedLevels,
): void {
  useRefresh();
  const amount = form.share === 0 ? undefined : amountOf(terminal, view, form, levels);
  useEffect(() => {
    if (amount !== undefined && amount !== form.amount) changeForm({ amount });
  }, [amount, form.amount]);
}

/** Rounded down to cents or lots, so that the venue fills all of it. */
function amountOf(
  terminal: Terminal,
  view: MarketView,
  form: OrderForm,
  levels: SortedLevels,
): string | undefined {
  const largest = largestNow(terminal, view, form, levels);
  if (largest === undefined) return undefined;
  if (form.unit === "size") {
    const lots = Math.floor(largest.lots * form.share);
    return fromSteps(lots, view.units.lot).toFixed(view.sizeDigits);
  }
  const times = form.unit === "value" ? (leverageIn(form, view) ?? 1) : 1;
  const dollars = fromMicros(largest.marginMicros) * form.share * times;
  return floorToCents(dollars).toFixed(2);
}
