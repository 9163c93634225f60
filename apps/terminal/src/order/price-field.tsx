/** The price of an order: typed, or taken from the market. */

import { fromSteps, toSteps } from "@perpgate/protocol/core";
import { type Terminal, useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { NumberField } from "../ui/number-field.js";
import type { MarketView } from "../venue/market-view.js";
import { changeForm, type OrderForm } from "./order-form-state.js";

interface Props {
  readonly view: MarketView;
  readonly form: OrderForm;
  readonly problem: string | undefined;
  /** The venue refused the order because of this field. */
  readonly isWrong: boolean;
}

const SOURCES = ["bid", "mid", "ask", "last", "mark"] as const;

export function PriceField({ view, form, problem, isWrong }: Props) {
  const terminal = useTerminal();
  const take = (source: (typeof SOURCES)[number]) => {
    const ticks = marketTicks(terminal, view, form.side)[source];
    if (ticks === undefined) return;
    changeForm({ price: fromSteps(ticks, view.units.tick).toFixed(view.priceDigits) });
  };
  return (
    <div className="field">
      <NumberField
        label={form.type === "stop" ? t.form.triggerPrice : t.words.price}
        value={form.price}
        placeholder={(0).toFixed(view.priceDigits)}
        unit={view.market.quote}
        problem={problem}
        isWrong={isWrong}
        onChange={(price) => changeForm({ price })}
      />
      <div className="shares five">
        {SOURCES.map((source) => (
          <button
            key={source}
            type="button"
            className="button small"
            aria-label={t.form.priceFrom(t.form.sources[source])}
            onClick={() => take(source)}
          >
            {t.form.sources[source]}
          </button>
        ))}
      </div>
    </div>
  );
}

/** Of the moment; the mid is rounded toward the trader's own side of the book. */
function marketTicks(
  { book, marketFeed }: Terminal,
  { market, units }: MarketView,
  side: OrderForm["side"],
): Partial<Record<(typeof SOURCES)[number], number | undefined>> {
  const state = book.state.get();
  const ticker = marketFeed.ticker(market.symbol).get();
  const ticksOf = (price: number | null | undefined) =>
    price === null || price === undefined ? undefined : toSteps(price, units.tick);
  const isShown = state?.symbol === market.symbol;
  const bid = isShown ? ticksOf(state.book.bestBid?.[0]) : undefined;
  const ask = isShown ? ticksOf(state.book.bestAsk?.[0]) : undefined;
  const middle = bid === undefined || ask === undefined ? undefined : (bid + ask) / 2;
  const round = side === "long" ? Math.floor : Math.ceil;
  return {
    bid,
    mid: middle === undefined ? undefined : round(middle),
    ask,
    last: ticksOf(ticker?.last),
    mark: ticksOf(ticker?.mark),
  };
}
