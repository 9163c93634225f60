/**
 * A stream of operations on a bare book, made once and applied to every contestant. The book starts
 * with one order on each of `levels` prices. Then 48 % places, 40 % cancels of a random live order and
 * 12 % crosses, which keeps its size. A place is `reach × u⁴` ticks behind the touch (u uniform), so
 * half of them fall within the first 6 % of the reach, as in real flow.
 */
import { Random } from "@perpgate/protocol/random";
import type { BareBook } from "./bare-books.js";
import { LadderBook } from "./bare-books.js";

const MIDDLE = 1_000_000;
const PLACE = 0;
const CANCEL = 1;
const CROSS = 2;

export class BookOperations {
  private readonly kinds: Uint8Array;
  private readonly ids: Float64Array;
  private readonly bids: Uint8Array;
  private readonly ticks: Float64Array;
  private readonly lots: Float64Array;
  private length = 0;
  /** Operations that only fill the book and are not timed. */
  readonly opening: number;

  constructor(
    readonly count: number,
    levels: number,
    reach: number,
    seed: number,
  ) {
    const capacity = count + levels;
    this.kinds = new Uint8Array(capacity);
    this.ids = new Float64Array(capacity);
    this.bids = new Uint8Array(capacity);
    this.ticks = new Float64Array(capacity);
    this.lots = new Float64Array(capacity);
    const random = new Random(seed);
    const book = new LadderBook();
    const live: number[] = [];
    const place = (isBid: boolean, depth: number): void => {
      const ticks = isBid ? MIDDLE - 1 - depth : MIDDLE + 1 + depth;
      const id = this.length + 1;
      const lots = 1 + random.below(20);
      this.push(PLACE, id, isBid, ticks, lots);
      book.place(id, isBid, ticks, lots);
      live.push(id);
    };
    for (let i = 0; i < levels; i++) place(i % 2 === 0, i >> 1);
    this.opening = this.length;
    while (this.length < capacity) {
      const dice = random.next();
      const isBid = random.next() < 0.5;
      if (dice < 0.48 || live.length < 100) {
        place(isBid, Math.floor(reach * random.next() ** 4));
      } else if (dice < 0.88) {
        const id = takeRandom(live, random);
        this.push(CANCEL, id, false, 0, 0);
        book.cancel(id);
      } else {
        const lots = 1 + random.below(12);
        this.push(CROSS, 0, isBid, 0, lots);
        book.cross(isBid, lots);
      }
    }
  }

  /** Nanoseconds per timed operation. */
  time(book: BareBook): number {
    this.run(book, 0, this.opening);
    const started = performance.now();
    this.run(book, this.opening, this.length);
    return ((performance.now() - started) * 1e6) / this.count;
  }

  private run(book: BareBook, from: number, to: number): void {
    const { kinds, ids, bids, ticks, lots } = this;
    for (let i = from; i < to; i++) {
      const kind = kinds[i];
      if (kind === PLACE) book.place(ids[i]!, bids[i] === 1, ticks[i]!, lots[i]!);
      else if (kind === CANCEL) book.cancel(ids[i]!);
      else book.cross(bids[i] === 1, lots[i]!);
    }
  }

  private push(kind: number, id: number, isBid: boolean, ticks: number, lots: number): void {
    const i = this.length++;
    this.kinds[i] = kind;
    this.ids[i] = id;
    this.bids[i] = isBid ? 1 : 0;
    this.ticks[i] = ticks;
    this.lots[i] = lots;
  }
}

/** Removes a random id. Some have filled meanwhile: canceling those is part of real flow. */
function takeRandom(ids: number[], random: Random): number {
  const at = random.below(ids.length);
  const id = ids[at]!;
  ids[at] = ids[ids.length - 1]!;
  ids.pop();
  return id;
}
