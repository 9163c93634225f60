/**
 * A recorded order-by-order feed: lines of `<local ms> <type> <JSON>`. Prices in cents, sizes in
 * satoshi, both whole.
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

export type BookSide = "bids" | "asks";
export type Level = readonly [cents: number, satoshi: number];

export interface OrderEvent {
  readonly kind: "created" | "changed" | "deleted";
  readonly timeMs: number;
  readonly id: number;
  readonly side: BookSide;
  readonly cents: number;
  /** What is left of the order; for a deletion what it had left, 0 if it was filled. */
  readonly satoshi: number;
}

export interface BookEvent {
  readonly kind: "book";
  readonly timeMs: number;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

export type FeedEvent = OrderEvent | BookEvent;

const KINDS: Readonly<Record<string, OrderEvent["kind"]>> = {
  order_created: "created",
  order_changed: "changed",
  order_deleted: "deleted",
};

export function readFeed(path: string): FeedEvent[] {
  const events: FeedEvent[] = [];
  for (const line of gunzipSync(readFileSync(path)).toString("utf8").split("\n")) {
    const [time, type] = line.split(" ", 2);
    if (time === undefined || type === undefined) continue;
    const event = parse(Number(time), type, JSON.parse(line.slice(time.length + type.length + 2)));
    if (event !== null) events.push(event);
  }
  return events;
}

function parse(timeMs: number, type: string, data: Record<string, unknown>): FeedEvent | null {
  if (type === "order_book") {
    return { kind: "book", timeMs, bids: levels(data.bids), asks: levels(data.asks) };
  }
  const kind = KINDS[type];
  if (kind === undefined) return null;
  return {
    kind,
    timeMs,
    id: Number(data.id),
    side: data.order_type === 0 ? "bids" : "asks",
    cents: scaled(String(data.price), 2),
    satoshi: scaled(String(data.amount), 8),
  };
}

function levels(rows: unknown): Level[] {
  if (!Array.isArray(rows)) throw new Error("a book without levels");
  return rows.map((row: unknown) => {
    if (!Array.isArray(row)) throw new Error("a level without price and size");
    return [scaled(String(row[0]), 2), scaled(String(row[1]), 8)];
  });
}

/** A decimal as a whole number of its smallest units, without going through a fraction. */
function scaled(decimal: string, digits: number): number {
  const [whole = "", fraction = ""] = decimal.split(".");
  return Number(whole + fraction.slice(0, digits).padEnd(digits, "0"));
}
