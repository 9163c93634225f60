/** The estimate of the order in the form, updated with the form and four times a second with the book. */

import type { Position } from "@perpgate/protocol";
import { type Holding, toMicrosFloor, toSteps } from "@perpgate/protocol/core";
import { useState } from "react";
import { useRefresh } from "../account/live-pnl.js";
import { Levels } from "../book/levels.js";
import { type OrderPreview, previewOrder } from "../maths/order-preview.js";
import { NO_HOLDING } from "../maths/position-maths.js";
import { useStore } from "../state/store.js";
import { type Terminal, useTerminal } from "../terminal.js";
import type { MarketView } from "../venue/market-view.js";
import { numberIn, type OrderForm, orderForm } from "./order-form-state.js";

export function usePreview(view: MarketView): OrderPreview | undefined {
  const terminal = useTerminal();
  const form = useStore(orderForm);
  const position = useStore(terminal.account.positions, (all) => all?.get(view.market.symbol));
  const [levels] = useState(() => new Levels());
  useRefresh();
  return previewNow(terminal, view, form, position, levels);
}

function previewNow(
  { book, marketFeed }: Terminal,
  view: MarketView,
  form: OrderForm,
  position: Position | undefined,
  levels: Levels,
): OrderPreview | undefined {
  const { market, units } = view;
  const mark = marketFeed.ticker(market.symbol).get()?.mark ?? market.markPrice;
  const bookState = book.state.get();
  const margin = numberIn(form.margin);
  const price = priceIn(form);
  if (mark === null || margin === undefined || margin <= 0) return undefined;
  if (bookState?.symbol !== market.symbol) return undefined;
  try {
    return previewOrder(
      {
        direction: form.side === "long" ? 1 : -1,
        type: form.type,
        marginMicros: toMicrosFloor(margin),
        leverage: form.leverage,
        priceTicks: price === undefined ? 0 : toSteps(price, units.tick),
        reduceOnly: form.reduceOnly,
      },
      {
        units,
        markTicks: Math.round(mark / market.tickSize),
        opposite: levels.read(bookState.book, form.side === "long" ? "ask" : "bid"),
        held: holdingOf(position, view),
      },
    );
  } catch {
    // A price off the tick, or numbers out of range; the form shows that.
    return undefined;
  }
}

export function priceIn({ type, price }: OrderForm): number | undefined {
  const value = type === "market" ? undefined : numberIn(price);
  return value === undefined || value <= 0 ? undefined : value;
}

function holdingOf(position: Position | undefined, { units }: MarketView): Holding {
  if (position === undefined) return NO_HOLDING;
  const { size, avgEntry, margin } = position;
  return {
    lots: Math.round(size / units.lot.size),
    costMicros: Math.round(avgEntry * size * 1e6),
    marginMicros: Math.round(margin * 1e6),
  };
}
