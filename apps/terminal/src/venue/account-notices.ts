/**
 * Notices of what happens to the account without a press of a button in this page: fills of resting
 * orders, stops that trigger, cancels, liquidations. What an order did when it was placed is its result,
 * and no notice.
 */

import type { Fill, LedgerEntry, Order, Side } from "@perpgate/protocol";
import type { FillsFrame, OrdersFrame } from "@perpgate/sdk";
import { formatDollars, formatSigned } from "../format/numbers.js";
import { reasonText } from "../order/reasons.js";
import { t } from "../text/texts.js";
import type { Toasts } from "../ui/toasts.js";
import { type MarketView, priceText, sizeText } from "./market-view.js";

export interface LedgerQuery {
  readonly symbol: string;
  readonly limit: number;
  readonly before?: string;
}

interface NoticeSources {
  readonly toasts: Pick<Toasts, "show">;
  view(symbol: string): MarketView | undefined;
  /** An order that is no longer among the open ones, as the venue has it. */
  readOrder(orderId: string): Promise<Order | undefined>;
  /** A page of a market's ledger, newest first, which has the charges of liquidations. */
  readLedger(query: LedgerQuery): Promise<readonly LedgerEntry[]>;
  /** Whether a press in this page has placed the order. */
  hasPlaced(order: Order): boolean;
  /** Whether a press in this page has canceled the order. */
  hasCanceled(order: Order): boolean;
  /** Called with every order that changed. */
  onChanged(order: Order): void;
}

/** After a long outage the list of open orders may differ by many. */
const MOST_READ = 20;

const LEDGER_PAGE = 500;

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
    for (const order of orders) {
      const before = known?.get(order.orderId);
      this.changed(order, before ?? (type === "update" ? this.beforeFirst(order) : undefined));
    }
    if (type !== "snapshot" || known === undefined) return;
    // Missing in a snapshot: ended while there was no line.
    const ids = new Set(orders.map(({ orderId }) => orderId));
    const ended = [...known.values()].filter(({ orderId }) => !ids.has(orderId));
    for (const before of ended.slice(-MOST_READ)) void this.readEnded(before);
  }

  fills({ fills }: FillsFrame): void {
    const shown = new Map<string, { symbol: string; isLiquidated: boolean }>();
    for (const fill of fills) {
      if (fill.kind === "order") continue;
      // The one who is liquidated takes; whose winning position closes it gives.
      const isLiquidated = fill.kind !== "adl" || fill.liquidity !== "maker";
      const word = isLiquidated ? t.notices.liquidated : t.notices.deleveraged;
      const title = t.notices.titled(word, fill.symbol);
      this.forced.set(title, joined(this.forced.get(title), fill));
      shown.set(title, { symbol: fill.symbol, isLiquidated });
    }
    for (const [title, { symbol, isLiquidated }] of shown) {
      this.showForced(title, symbol, undefined);
      if (isLiquidated) void this.addCharge(title, symbol);
    }
  }

  /** What was placed elsewhere may have filled at once; what was placed here has a result instead. */
  private beforeFirst(order: Order): Order | undefined {
    const { filledSize, type, parentOrderId } = order;
    // An exit is not what its order did when it was placed.
    const isResult = parentOrderId === undefined && this.sources.hasPlaced(order);
    if (filledSize === 0 || isResult) return undefined;
    return { ...order, status: type === "stop" ? "pending" : "resting", filledSize: 0 };
  }

  /** The charge is in no fill. */
  private async addCharge(title: string, symbol: string): Promise<void> {
    const entries = await this.readSince(this.forced.get(title), symbol).catch(() => []);
    const { positions } = this.forced.get(title) ?? {};
    // The entries of fills refer to the fill, and are in the PnL already.
    const charges = entries.filter(
      ({ kind, reference }) => kind === "liquidation" && positions?.has(reference) === true,
    );
    if (charges.length === 0) return;
    this.showForced(
      title,
      symbol,
      charges.reduce((sum, { amount }) => sum - amount, 0),
    );
  }

  /** The ledger of the market back to the event's first command, which may have many fills. */
  private async readSince(
    event: ForcedEvent | undefined,
    symbol: string,
  ): Promise<readonly LedgerEntry[]> {
    const first = Math.min(...[...(event?.positions ?? [])].map(Number));
    const entries: LedgerEntry[] = [];
    for (;;) {
      const oldest = entries.at(-1)?.id;
      const cursor = oldest === undefined ? {} : { before: oldest };
      const page = await this.sources.readLedger({ symbol, limit: LEDGER_PAGE, ...cursor });
      entries.push(...page);
      const last = page.at(-1);
      if (last === undefined || page.length < LEDGER_PAGE) return entries;
      if (Number(positionIn(last.id)) < first) return entries;
    }
  }

  private showForced(title: string, symbol: string, charge: number | undefined): void {
    const event = this.forced.get(title);
    if (event === undefined) return;
    const { side, size, value, realizedPnl } = event;
    const view = this.sources.view(symbol);
    const terms = [
      t.words.done[side],
      `${sizeText(view, size)} ${view?.market.base ?? ""}`,
      priceText(view, value / size),
      formatSigned(realizedPnl, 2),
    ] as const;
    const text =
      charge === undefined
        ? t.notices.forced(...terms)
        : t.notices.forcedCharged(...terms, formatDollars(charge));
    this.sources.toasts.show("alarm", title, text, title);
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
      const isFilled = order.status === "filled";
      const title = isTriggered
        ? isFilled
          ? t.notices.stopFilled
          : t.notices.stopPartlyFilled
        : isFilled
          ? t.notices.filled
          : t.notices.partlyFilled;
      this.show("good", title, order, key);
    } else if (order.status === "canceled") {
      if (this.sources.hasCanceled(order)) return;
      this.show(
        "info",
        isTriggered && before.type === "stop" ? endOfStop(order) : t.notices.canceled,
        order,
        key,
      );
    } else if (isTriggered) {
      this.show("info", t.notices.stopTriggered, order, key);
    }
  }

  private show(kind: "good" | "info", title: string, order: Order, key: string): void {
    const { symbol, side, type, filledSize, size, avgFillPrice, price, reason } = order;
    const view = this.sources.view(symbol);
    const whole = `${sizeText(view, size)} ${view?.market.base ?? ""}`;
    const unfilled = price === null ? whole : t.notices.sizeAt(whole, priceText(view, price));
    const amount =
      filledSize > 0
        ? t.notices.amount(sizeText(view, filledSize), whole, priceText(view, avgFillPrice))
        : unfilled;
    const what = t.notices.order(t.words.acts[side], t.words.typesInSentence[type], amount);
    const why =
      order.status === "canceled" && reason !== null
        ? ` ${reasonText(reason, filledSize > 0)}`
        : "";
    this.sources.toasts.show(kind, t.notices.titled(title, symbol), `${what}${why}`, key);
  }
}

/** A stop that its owner canceled has not triggered. */
function endOfStop({ reason }: Order): string {
  return reason === "book_empty" || reason === "band" || reason === "not_filled"
    ? t.notices.stopNotFilled
    : t.notices.canceled;
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
