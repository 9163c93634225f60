/**
 * Fills by account and market, and trades by market, keyed by the seq of the command and the index within it, which
 * is their total order. A trade makes two fills, the maker's first. Transfers to the backstop and by
 * deleveraging are fills but not public trades, because they take no order from the book.
 */
import { BACKSTOP_ACCOUNT, TRADE_ORDER } from "@perpgate/engine";
import { CLIENT_ID_WORDS } from "@perpgate/protocol/client-order-id";
import { TRADED } from "../event-fields.js";
import { ROW_TABLES } from "./history-environment.js";
import { EXTENDED_ROW, ORDER_ROW_WORDS } from "./order-row.js";
import type { RowSink } from "./rows.js";

export const FILL_ROW = {
  /** 0: none. */
  ORDER: 0,
  KIND: 1,
  MARKET: 2,
  SIDE: 3,
  PRICE: 4,
  LOTS: 5,
  FEE: 6,
  IS_TAKER: 7,
  PNL: 8,
  BLOCK: 9,
  TIME: 10,
  /** The account's balance after it. */
  BALANCE: 11,
} as const;
/** A fill of an order with a client's id has its words after these. */
export const FILL_WORDS = 12;
export const FILL_CLIENT = FILL_WORDS;
export const FILL_LENGTHS: readonly number[] = [FILL_WORDS, FILL_WORDS + CLIENT_ID_WORDS];

export const TRADE_ROW = { PRICE: 0, LOTS: 1, SIDE: 2, TIME: 3 } as const;
export const TRADE_WORDS = 4;

/** Rows of the orders in a trade; undefined for a side without an order. */
interface TradedOrders {
  readonly maker: Float64Array | undefined;
  readonly taker: Float64Array | undefined;
}

/** Takes the rows of a command's fills, and writes them once the balances are known. */
export interface FillSink {
  /** Whether it needs the account's fills. */
  wants(account: number): boolean;
  onFill(account: number, market: number, ordinal: number, row: number[]): void;
}

export class FillProjection {
  constructor(
    private readonly fills: FillSink,
    private readonly queue: RowSink,
  ) {}

  /** `index` counts the trades of the command; `orders` holds the rows of the two orders. */
  onTraded(
    words: Float64Array,
    at: number,
    seq: number,
    index: number,
    block: number,
    timeMs: number,
    orders: TradedOrders,
  ): void {
    const market = words[at + TRADED.market]!;
    const kind = words[at + TRADED.tradeKind]!;
    const side = words[at + TRADED.takerSide]!;
    const price = words[at + TRADED.priceTicks]!;
    const lots = words[at + TRADED.lots]!;
    const maker = words[at + TRADED.makerAccount]!;
    const makerOrder = words[at + TRADED.makerOrderId]!;
    if (maker !== BACKSTOP_ACCOUNT && this.fills.wants(maker)) {
      const fee = words[at + TRADED.makerFeeMicros]!;
      const pnl = words[at + TRADED.makerPnlMicros]!;
      // A maker with a resting order has an ordinary fill, also if a liquidation took it.
      const own = makerOrder === 0 ? kind : TRADE_ORDER;
      const row = [makerOrder, own, market, -side, price, lots, fee, 0, pnl, block, timeMs, 0];
      pushClient(row, orders.maker);
      this.fills.onFill(maker, market, 2 * index, row);
    }
    const taker = words[at + TRADED.takerAccount]!;
    const takerOrder = words[at + TRADED.takerOrderId]!;
    if (taker !== BACKSTOP_ACCOUNT && this.fills.wants(taker)) {
      const fee = words[at + TRADED.takerFeeMicros]!;
      const pnl = words[at + TRADED.takerPnlMicros]!;
      const own = takerOrder === 0 ? kind : TRADE_ORDER;
      const row = [takerOrder, own, market, side, price, lots, fee, 1, pnl, block, timeMs, 0];
      pushClient(row, orders.taker);
      this.fills.onFill(taker, market, 2 * index + 1, row);
    }
    if (makerOrder === 0) return;
    this.queue.putWords(ROW_TABLES.trades, market, seq, index, [price, lots, side, timeMs]);
  }
}

/** Adds the client's id of the order, if it has one. */
function pushClient(row: number[], order: Float64Array | undefined): void {
  if (order === undefined || order.length === ORDER_ROW_WORDS) return;
  if (order[EXTENDED_ROW.CLIENT] === 0) return;
  for (let i = 0; i < CLIENT_ID_WORDS; i++) row.push(order[EXTENDED_ROW.CLIENT + i]!);
}
