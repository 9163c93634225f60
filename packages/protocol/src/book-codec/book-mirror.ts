/**
 * A client's copy of a book, kept in step with its stream.
 *
 * In: the payloads of `book.<symbol>`, packed or plain, as they came off the socket. Out: after each
 * one either a book equal to the venue's, proven by its checksum, or the reason to subscribe again.
 * After such a reason the mirror shows nothing and waits for a snapshot: a trader is better off with
 * no book than with a wrong one.
 */

import { fromSteps, NotInUnits, type Step, stepOf, toSteps } from "../units.js";
import { type BookMessage, type BookSideData, readBookMessage } from "./book-messages.js";
import { BookChecksum } from "./checksum.js";
import { decodeSide } from "./decode-side.js";
import { BookCodecError, type BookSide, type Level } from "./layout.js";
import { SortedSide } from "./sorted-side.js";

export type ResubscribeReason =
  /** Not a book message, or sides that cannot be read. */
  | "malformed"
  /** A delta that does not follow the last frame: something was missed. */
  | "gap"
  /** All frames came, and yet the books differ. */
  | "checksum_mismatch";

export type MirrorVerdict =
  | { readonly kind: "applied" }
  /** A delta before the first snapshot, or after a reason was given: to be passed over. */
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
  private position = 0;
  private updatedAt = 0;

  /** Whether there is a book to look at. */
  get live(): boolean {
    return this.units !== undefined;
  }

  /** The log position the book reflects; 0 without one. */
  get seq(): number {
    return this.position;
  }

  /** When the venue made the last frame that was applied. */
  get time(): number {
    return this.updatedAt;
  }

  get sum(): number {
    return this.checksum.value;
  }

  /** What a tick is worth in dollars; 0 without a book. */
  get tick(): number {
    return this.units?.tick.size ?? 0;
  }

  /** What a lot is in units of base; 0 without a book. */
  get lot(): number {
    return this.units?.lot.size ?? 0;
  }

  /** How many levels a side has. */
  depth(side: BookSide): number {
    return this.sides[side].size;
  }

  apply(payload: unknown): MirrorVerdict {
    const message = readBookMessage(payload);
    if (message === undefined) return this.giveUp("malformed");
    if (message.type === "delta") {
      if (this.units === undefined) return AWAITING_SNAPSHOT;
      if (message.prev !== this.position || message.seq <= message.prev) return this.giveUp("gap");
      return this.change(message, this.units);
    }
    this.forget();
    const units = unitsOf(message.tick, message.lot);
    return units === undefined ? this.giveUp("malformed") : this.change(message, units);
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
   * Writes the best levels in ticks and lots into the caller's arrays, as many as fit, and answers
   * how many: for a page that draws sixty times a second and would rather not make garbage.
   */
  copyLevels(side: BookSide, ticks: Float64Array, lots: Float64Array): number {
    return this.sides[side].copyTo(ticks, lots);
  }

  lotsAt(side: BookSide, tick: number): number {
    return this.sides[side].lotsAt(tick);
  }

  /** Both sides are read before either changes, so that a frame is applied whole or not at all. */
  private change(message: BookMessage, units: Units): MirrorVerdict {
    const bids = readSide(message.bids, "bid", units);
    const asks = readSide(message.asks, "ask", units);
    if (bids === undefined || asks === undefined) return this.giveUp("malformed");
    this.setAll("bid", bids);
    this.setAll("ask", asks);
    if (this.checksum.value !== message.sum) return this.giveUp("checksum_mismatch");
    this.units = units;
    this.position = message.seq;
    this.updatedAt = message.time;
    return APPLIED;
  }

  private setAll(side: BookSide, levels: readonly Level[]): void {
    // From the outside in, so that a snapshot only ever appends.
    for (let i = levels.length - 1; i >= 0; i--) {
      const [tick, lots] = levels[i]!;
      this.checksum.set(side, tick, this.sides[side].set(tick, lots), lots);
    }
  }

  private giveUp(reason: ResubscribeReason): MirrorVerdict {
    this.forget();
    return { kind: "resubscribe", reason };
  }

  private forget(): void {
    this.sides.bid.clear();
    this.sides.ask.clear();
    this.checksum.clear();
    this.units = undefined;
    this.position = 0;
    this.updatedAt = 0;
  }
}

function unitsOf(tick: number, lot: number): Units | undefined {
  return unlessRefused(() => ({ tick: stepOf(tick), lot: stepOf(lot) }));
}

function readSide(data: BookSideData, side: BookSide, units: Units): readonly Level[] | undefined {
  return unlessRefused(() => {
    if (data instanceof Uint8Array) return decodeSide(data, side);
    return data.map(([price, size]): Level => {
      return [toSteps(price, units.tick), size === 0 ? 0 : toSteps(size, units.lot)];
    });
  });
}

/** Numbers that are no ticks or lots, and bytes that are no side, are answers here; bugs are not. */
function unlessRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof BookCodecError || error instanceof NotInUnits) return undefined;
    throw error;
  }
}
