/**
 * Notices of what happens to the account without a press of a button in this page: fills of resting
 * orders, stops that trigger, cancels, liquidations. What an order did when it was placed is its result,
 * and no notice.
 */

import type { Fill, LedgerEntry, Order, Side } from "@perpgate/protocol";
import type { FillsFrame, OrdersFrame } from "@perpgate/sdk";
import { formatDollars, formatSigned } from "../format/numbers.js";
import { reasonText } from "../order/reasons.js";
import type { Toasts } from "../ui/toasts.js";
import { type MarketView, priceText, sizeText } from "./market-view.js";

interface NoticeSources {
  readonly toasts: Pick<Toasts, "show">;
  view(symbol: string): MarketView | undefined;
  /** An order that is no longer among the open ones, as the venue has it. */
  readOrder(orderId: string): Promise<Order | undefined>;
  /** The newest entries of the ledger, which has the charges of liquidations. */
  readLedger(): Promise<readonly LedgerEntry[]>;
  /** Called with every order that changed. */
  onChanged(order: Order): void;
}

/** After a long outage the list of open orders may differ by many. */
const MOST_READ = 20;

/** One liquidation may go on over several ticks. */
const SAME_EVENT_MS = 10_000;

/** A liquidation or deleveraging: all of its fills together. */
interface ForcedEvent {
  readonly side: Side;
  readonly size: number;
  /** Sum of price × size. */
  readonly value: number;
  readonly realizedPnl: number;
  readonly time: number;
  /** Log positions of the commands. */
  readonly positions: ReadonlySet<string>;
}

export class AccountNotices {
  /** The last event of each kind and market. */
  private readonly forced = new Map<string, ForcedEvent>();

  constructor(private readonly sources: NoticeSources) {}

  orders({ type, orders }: OrdersFrame, known: ReadonlyMap<string, Order> | undefined): void {
    for (const order of orders) this.changed(order, known?.get(order.orderId));
    if (type !== "snapshot" || known === undefined) return;
    // Missing in a snapshot: ended while there was no line.
    const ids = new Set(orders.map(({ orderId }) => orderId));
    const ended = [...known.values()].filter(({ orderId }) => !ids.has(orderId));
    for (const before of ended.slice(-MOST_READ)) void this.readEnded(before);
  }

  fills({ fills }: FillsFrame): void {
    const symbols = new Map<string, string>();
    for (const fill of fills) {
      if (fill.kind === "order") continue;
      // The one who is liquidated takes; whose winning position closes it gives.
      const word = fill.kind === "adl" && fill.liquidity === "maker" ? "deleveraged" : "liquidated";
      const title = `${word === "liquidated" ? "Liquidated" : "Auto-deleveraged"}: ${fill.symbol}`;
      this.forced.set(title, joined(this.forced.get(title), fill));
      symbols.set(title, fill.symbol);
    }
    for (const [title, symbol] of symbols) {
      this.showForced(title, symbol, undefined);
      if (title.startsWith("Liquidated")) void this.addCharge(title, symbol);
    }
  }

  /** The charge is in no fill. */
  private async addCharge(title: string, symbol: string): Promise<void> {
    const ledger = await this.sources.readLedger().catch(() => []);
    const { positions } = this.forced.get(title) ?? {};
    const charges = ledger.filter(
      (entry) =>
        entry.kind === "liquidation" &&
        entry.symbol === symbol &&
        positions?.has(positionIn(entry.reference)) === true,
    );
    if (charges.length === 0) return;
    this.showForced(
      title,
      symbol,
      charges.reduce((sum, { amount }) => sum - amount, 0),
    );
  }

  private showForced(title: string, symbol: string, charge: number | undefined): void {
    const event = this.forced.get(title);
    if (event === undefined) return;
    const { side, size, value, realizedPnl } = event;
    const view = this.sources.view(symbol);
    const done = `${side === "long" ? "Bought" : "Sold"} ${sizeText(view, size)} ${view?.market.base ?? ""}`;
    const charged = charge === undefined ? "" : `, charge ${formatDollars(charge)}`;
    this.sources.toasts.show(
      "alarm",
      title,
      `${done} at ${priceText(view, value / size)} on average, PnL ${formatSigned(realizedPnl, 2)}${charged}.`,
      title,
    );
  }

  private async readEnded(before: Order): Promise<void> {
    const order = await this.sources.readOrder(before.orderId).catch(() => undefined);
    if (order !== undefined) this.changed(order, before);
  }

  private changed(order: Order, before: Order | undefined): void {
    this.sources.onChanged(order);
    if (before === undefined) return;
    const key = `order ${order.orderId}`;
    const isTriggered =
      before.triggered !== true &&
      before.status === "pending" &&
      (order.status !== "pending" || order.triggered === true);
    if (order.status === "filled" || order.filledSize > before.filledSize) {
      const title = order.status === "filled" ? "Filled" : "Partly filled";
      this.show("good", isTriggered ? `Stop triggered, ${title.toLowerCase()}` : title, order, key);
    } else if (order.status === "canceled") {
      this.show(
        "info",
        isTriggered && before.type === "stop" ? endOfStop(order) : "Canceled",
        order,
        key,
      );
    } else if (isTriggered) {
      this.show("info", "Stop triggered", order, key);
    }
  }

  private show(kind: "good" | "info", title: string, order: Order, key: string): void {
    const { symbol, side, type, filledSize, size, avgFillPrice, price, reason } = order;
    const view = this.sources.view(symbol);
    const what = `${side === "long" ? "Buy" : "Sell"} ${type}`;
    const base = view?.market.base ?? "";
    const amount =
      filledSize > 0
        ? `${sizeText(view, filledSize)} of ${sizeText(view, size)} ${base} at ${priceText(view, avgFillPrice)}`
        : `${sizeText(view, size)} ${base}${price === null ? "" : ` at ${priceText(view, price)}`}`;
    const why =
      order.status === "canceled" && reason !== null
        ? ` ${reasonText(reason, filledSize > 0)}`
        : "";
    this.sources.toasts.show(kind, `${title}: ${symbol}`, `${what}, ${amount}.${why}`, key);
  }
}

/** A stop that its owner canceled has not triggered. */
function endOfStop({ reason }: Order): string {
  return reason === "book_empty" || reason === "band" || reason === "not_filled"
    ? "Stop triggered, not filled"
    : "Canceled";
}

function joined(event: ForcedEvent | undefined, fill: Fill): ForcedEvent {
  const isSame =
    event !== undefined &&
    event.side === fill.side &&
    Math.abs(fill.time - event.time) <= SAME_EVENT_MS;
  const { size, value, realizedPnl, positions } = isSame ? event : NO_EVENT;
  return {
    side: fill.side,
    size: size + fill.size,
    value: value + fill.price * fill.size,
    realizedPnl: realizedPnl + fill.realizedPnl,
    time: fill.time,
    positions: new Set([...positions, positionIn(fill.id)]),
  };
}

const NO_EVENT = { size: 0, value: 0, realizedPnl: 0, positions: new Set<string>() };

/** Ids of fills and ledger entries begin with the log position of their command. */
function positionIn(id: string): string {
  return id.split("-", 1)[0] ?? id;
}
