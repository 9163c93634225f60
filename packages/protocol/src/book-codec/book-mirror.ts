/**
 * A client's copy of a book, updated from its stream.
 *
 * `apply` takes the payloads of `book.<symbol>`, packed or plain. After each one the copy either equals
 * the venue's book, verified by its checksum, or is empty until the next snapshot, and the verdict has
 * the reason to subscribe again. No book is better for a trader than a wrong one.
 */

import { fromSteps, NotInUnits, type Step, stepOf, toSteps } from "../numbers/units.js";
import { type BookMessage, type BookSideData, readBookMessage } from "./book-messages.js";
import { BookChecksum } from "./checksum.js";
import { decodeSide } from "./decode-side.js";
import { BookCodecError, type BookSide, type Level } from "./layout.js";
import { SortedSide } from "./sorted-side.js";

export type ResubscribeReason =
  /** Not a book message, or sides that cannot be decoded. */
  | "malformed"
  /** A delta that does not follow the last frame: one was missed. */
  | "gap"
  /** No frame was missed, and the books still differ. */
  | "checksum_mismatch";

export type MirrorVerdict =
  | { readonly kind: "applied" }
  /** A delta before a snapshot: to be ignored. */
  | { readonly kind: "awaiting_snapshot" }
  | { readonly kind: "resubscribe"; readonly reason: ResubscribeReason };

interface Units {
  readonly tick: Step;
  readonly lot: Step;
}

const APPLIED: MirrorVerdict = { kind: "applied" };
const AWAITING_SNAPSHOT: MirrorVerdict = { kind: "awaiting_snapshot" };

export class BookMirror {
  private readonly sides = { bid: new SortedSide("bid"), ask: new SortedSide("ask") };
  private readonly checksum = new BookChecksum();
  private units: Units | undefined;
  private lastSeq = 0;
  private updatedAt = 0;

  /** Whether there is a verified book. */
  get live(): boolean {
    return this.units !== undefined;
  }

  /** The seq that the book reflects; 0 without a book. */
  get seq(): number {
    return this.lastSeq;
  }

  /** When the venue made the last frame that was applied. */
  get time(): number {
    return this.updatedAt;
  }

  get sum(): number {
    return this.checksum.value;
  }

  /** Dollars per tick; 0 without a book. */
  get tick(): number {
    return this.units?.tick.size ?? 0;
  }

  /** Units of base per lot; 0 without a book. */
  get lot(): number {
    return this.units?.lot.size ?? 0;
  }

  /** Number of levels of a side. */
  depth(side: BookSide): number {
    return this.sides[side].size;
  }

  apply(payload: unknown): MirrorVerdict {
    const message = readBookMessage(payload);
    if (message === undefined) return this.reject("malformed");
    if (message.type === "delta") {
      if (this.units === undefined) return AWAITING_SNAPSHOT;
      if (message.prev !== this.lastSeq || message.seq <= message.prev) return this.reject("gap");
      return this.change(message, this.units);
    }
    this.clear();
    const units = unitsOf(message.tick, message.lot);
    return units === undefined ? this.reject("malformed") : this.change(message, units);
  }

  /** Levels in ticks and lots, best first. */
  levels(side: BookSide, depth = Number.POSITIVE_INFINITY): Level[] {
    return this.sides[side].levels(depth);
  }

  /** Levels as `[price, size]`, best first. */
  prices(side: BookSide, depth = Number.POSITIVE_INFINITY): [price: number, size: number][] {
    const { units } = this;
    if (units === undefined) return [];
    return this.levels(side, depth).map(([tick, lots]) => [
      fromSteps(tick, units.tick),
      fromSteps(lots, units.lot),
    ]);
  }

  /**
   * Writes the best levels in ticks and lots into the caller's arrays, as many as fit, and returns
   * the count. Allocates nothing: meant for a page that draws sixty times per second.
   */
  copyLevels(side: BookSide, ticks: Float64Array, lots: Float64Array): number {
    return this.sides[side].copyTo(ticks, lots);
  }

  lotsAt(side: BookSide, tick: number): number {
    return this.sides[side].lotsAt(tick);
  }

  /** Decodes both sides before it changes either, so a frame is applied entirely or not at all. */
  private change(message: BookMessage, units: Units): MirrorVerdict {
    const bids = readSide(message.bids, "bid", units);
    const asks = readSide(message.asks, "ask", units);
    if (bids === undefined || asks === undefined) return this.reject("malformed");
    this.setAll("bid", bids);
    this.setAll("ask", asks);
    if (this.checksum.value !== message.sum) return this.reject("checksum_mismatch");
    this.units = units;
    this.lastSeq = message.seq;
    this.updatedAt = message.time;
    return APPLIED;
  }

  private setAll(side: BookSide, levels: readonly Level[]): void {
    // From the worst price to the best, so that a snapshot only appends.
    for (let i = levels.length - 1; i >= 0; i--) {
      const [tick, lots] = levels[i]!;
      this.checksum.set(side, tick, this.sides[side].set(tick, lots), lots);
    }
  }

  private reject(reason: ResubscribeReason): MirrorVerdict {
    this.clear();
    return { kind: "resubscribe", reason };
  }

  private clear(): void {
    this.sides.bid.clear();
    this.sides.ask.clear();
    this.checksum.clear();
    this.units = undefined;
    this.lastSeq = 0;
    this.updatedAt = 0;
  }
}

function unitsOf(tick: number, lot: number): Units | undefined {
  return unlessInvalid(() => ({ tick: stepOf(tick), lot: stepOf(lot) }));
}

function readSide(data: BookSideData, side: BookSide, units: Units): readonly Level[] | undefined {
  return unlessInvalid(() => {
    if (data instanceof Uint8Array) return decodeSide(data, side);
    return data.map(([price, size]): Level => {
      return [toSteps(price, units.tick), size === 0 ? 0 : toSteps(size, units.lot)];
    });
  });
}

/** Undefined for numbers that are not ticks or lots and bytes that are not a side. */
function unlessInvalid<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof BookCodecError || error instanceof NotInUnits) return undefined;
    throw error;
  }
}
