/**
 * The payloads of `book.<symbol>`: a snapshot, then deltas. `bids` and `asks` are packed bytes, or
 * `[[price, size]…]` if the subscription has the format `plain`. `readBookMessage` checks every field of
 * an untrusted payload.
 */
import { isCount } from "../numbers/integers.js";

type PlainLevel = readonly [price: number, size: number];
export type BookSideData = Uint8Array | readonly PlainLevel[];

interface BookChange {
  /** The seq that the book reflects after this frame. */
  readonly seq: number;
  readonly time: number;
  readonly bids: BookSideData;
  readonly asks: BookSideData;
  /** The checksum of all levels that are published, after this frame. */
  readonly sum: number;
}

interface BookSnapshotMessage extends BookChange {
  readonly type: "snapshot";
  readonly block: number;
  /** price = ticks × tick, size = lots × lot. */
  readonly tick: number;
  readonly lot: number;
}

interface BookDeltaMessage extends BookChange {
  readonly type: "delta";
  /** The `seq` of the previous frame. */
  readonly prev: number;
}

export type BookMessage = BookSnapshotMessage | BookDeltaMessage;

/** The message, or undefined if the payload is not one; unknown fields are ignored. */
export function readBookMessage(payload: unknown): BookMessage | undefined {
  if (typeof payload !== "object" || payload === null) return undefined;
  const { type, seq, time, bids, asks, sum, prev, block, tick, lot } = fieldsOf(payload);
  if (!isCount(seq) || !isCount(time) || !isCount(sum) || sum >= 2 ** 32) return undefined;
  if (!isSide(bids) || !isSide(asks)) return undefined;
  const change = { seq, time, bids, asks, sum };
  if (type === "delta") return isCount(prev) ? { type, ...change, prev } : undefined;
  if (type !== "snapshot" || !isCount(block) || !isStep(tick) || !isStep(lot)) return undefined;
  return { type, ...change, block, tick, lot };
}

function fieldsOf(payload: object): Readonly<Record<string, unknown>> {
  return { ...payload };
}

function isStep(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}

function isSide(value: unknown): value is BookSideData {
  return value instanceof Uint8Array || (Array.isArray(value) && value.every(isPlainLevel));
}

function isPlainLevel(value: unknown): value is PlainLevel {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    value.every((part) => typeof part === "number" && Number.isFinite(part) && part >= 0)
  );
}
