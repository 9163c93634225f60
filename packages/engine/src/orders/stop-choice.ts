/**
 * Which waiting stops a tick serves: closing ones before others, in each class one per account in
 * turn, the largest notional at mark first; and which of those that were triggered and have not closed
 * their position it tries again. A few passes over the waiting stops, each with constant
 * work per stop; no sort but that of a sample and of the chosen ones.
 */
import { LONG, SHORT, type Side } from "../commands.js";
import { CLOSES_AGAIN_PER_TICK, LIQUIDATIONS_AND_STOPS_PER_COMMAND as LIMIT } from "../config.js";
import { canCloseAt } from "../money/fill.js";
import { Selection } from "../selection.js";
import { NONE } from "../state/id-index.js";
import type { Market } from "../state/market.js";
import { int32 } from "../state/memory.js";
import { closingBounds } from "../state/positions.js";
import {
  CHUNK_STOPS,
  CLOSE_POSITION_STOP,
  PLAIN_STOP,
  type StopChunk,
} from "../state/stop-chunk.js";
import type { VenueTables } from "../state/venue-tables.js";
import { bandLimit } from "./taker.js";

// Most stops do not close their position; a byte of it usually tells, and a byte is in the cache.
const LONG_BOUNDS = closingBounds(LONG);
const SHORT_BOUNDS = closingBounds(SHORT);

/** Below the weight of every stop. */
const EVERY_WEIGHT = Number.NEGATIVE_INFINITY;
/** How many times as many stops as can be served the guess is to let through. */
const GUESSED_TURNS = 8;

export class StopChoice {
  /** Ids of the chosen stops, in order of service. */
  readonly ids = new Float64Array(LIMIT);
  count = 0;
  private readonly closing = new Turns();
  private readonly others = new Turns();
  /** Triggered stops to try again: the weight is their notional, the tie their id. */
  readonly again = new Selection(CLOSES_AGAIN_PER_TICK);
  private readonly sample = new Float64Array(1_024);
  /** Of one chunk: the stops that are large enough, and what a byte tells of their positions. */
  private readonly candidates = new Int32Array(CHUNK_STOPS);
  private readonly classes = new Uint8Array(CHUNK_STOPS);

  /** Chooses at most `limit` of the stops that wait in live markets. */
  choose(s: VenueTables, limit: number): void {
    const { closing, others } = this;
    this.count = 0;
    this.forEachChunk(s, sizeClosing);
    const guess = this.guessFloor(s, limit);
    this.noteClosing(s, limit, guess);
    // If too few accounts have closing stops as large as that, all stops matter.
    if (guess !== EVERY_WEIGHT && closing.accounts < limit) {
      closing.end();
      this.noteClosing(s, limit, EVERY_WEIGHT);
    }
    closing.share(limit);
    const left = limit - Math.min(limit, closing.stops);
    others.begin(s.accounts.rows, left, EVERY_WEIGHT);
    if (left > 0) {
      this.forEachChunk(s, (market, side, chunk) => this.noteChunk(market, side, chunk, others));
    }
    others.share(left);
    if (closing.needsRanking || others.needsRanking) {
      this.forEachChunk(s, (market, side, chunk) =>
        rankChunk(market, side, chunk, closing, others),
      );
    }
    this.count = closing.take(this.ids, 0);
    this.count = others.take(this.ids, this.count);
    closing.end();
    others.end();
  }

  /**
   * Chooses among the triggered stops that have something to close, which the book can take. From version 3
   * on it looks at some of each market and side, which take turns.
   */
  chooseAgain(s: VenueTables): void {
    const { again } = this;
    again.begin(CLOSES_AGAIN_PER_TICK);
    for (const market of s.markets) {
      if (!s.isLive(market)) continue;
      s.focus = market.number;
      for (const side of [LONG, SHORT] as const) {
        if (!hasLevelInBand(market, side)) continue;
        if (s.rules.stopLines) offerNext(s, market, side, again);
        else offerAll(market, side, again);
      }
    }
    again.sort();
  }

  /** Notes the closing stops of at least that weight. */
  private noteClosing(s: VenueTables, limit: number, floor: number): void {
    const { closing } = this;
    closing.begin(s.accounts.rows, limit, floor);
    this.forEachChunk(s, (market, side, chunk) => this.noteChunk(market, side, chunk, closing));
  }

  /**
   * A weight that several times as many closing stops have as can be served, from a sample: of most
   * stops nothing but the size is read then. The others do not count, since those that are served first
   * are soon the smaller ones.
   */
  private guessFloor(s: VenueTables, limit: number): number {
    const { sample } = this;
    let waiting = 0;
    this.forEachChunk(s, (_market, _side, { count }) => {
      waiting += count;
    });
    const wanted = GUESSED_TURNS * limit;
    if (waiting <= 2 * wanted) return EVERY_WEIGHT;
    const stride = Math.ceil(waiting / sample.length);
    let sampled = 0;
    let count = 0;
    this.forEachChunk(s, (market, side, chunk) => {
      for (let i = stride - 1; i < chunk.count && sampled < sample.length; i += stride) {
        sampled++;
        if (isClosing(market, side, chunk, i)) sample[count++] = chunk.lots[i]! * market.markUnit;
      }
    });
    // In the sample, of the closing stops: as many as are wanted of all.
    const place = Math.ceil((sampled * wanted) / waiting);
    return count < 2 * place ? EVERY_WEIGHT : sample.subarray(0, count).sort()[count - place]!;
  }

  /**
   * Notes the stops of one class. One step per stop, over arrays in sequence; the positions of those
   * that are large enough are looked up in a loop of its own, in which the processor waits for many
   * of them together.
   */
  private noteChunk(market: Market, side: Side, chunk: StopChunk, turns: Turns): void {
    const { candidates, classes } = this;
    const { held, sizes } = market.positions;
    const { markUnit } = market;
    const { count, lots, ids, positions, accounts, kinds } = chunk;
    const bounds = side === LONG ? LONG_BOUNDS : SHORT_BOUNDS;
    const wantsClosing = turns === this.closing;
    const { floor } = turns;
    let found = 0;
    for (let i = 0; i < count; i++) if (lots[i]! * markUnit >= floor) candidates[found++] = i;
    for (let k = 0; k < found; k++) classes[k] = sizes[positions[candidates[k]!]!]!;
    let noted = 0;
    for (let k = 0; k < found; k++) {
      const i = candidates[k]!;
      const size = lots[i]!;
      const bound = bounds[classes[k]!]!;
      // Half of the bound is what a position of its class has at least.
      const isCovered = size < bound && (2 * size <= bound || size <= -side * held[positions[i]!]!);
      if ((isCovered || kinds[i] !== PLAIN_STOP) !== wantsClosing) continue;
      turns.note(accounts[i]!, size * markUnit, ids[i]!);
      noted++;
    }
    turns.stops += noted;
  }

  private forEachChunk(
    s: VenueTables,
    visit: (market: Market, side: Side, chunk: StopChunk) => void,
  ): void {
    for (const market of s.markets) {
      if (!s.isLive(market)) continue;
      for (const { side, reached } of market.stopBooks) {
        for (const chunk of reached) visit(market, side, chunk);
      }
    }
  }
}

/** The lots of a stop that closes the position are those of the position. */
function sizeClosing({ positions: { held } }: Market, side: Side, chunk: StopChunk): void {
  const { count, lots, positions, kinds } = chunk;
  for (let i = 0; i < count; i++) {
    if (kinds[i] === CLOSE_POSITION_STOP) lots[i] = Math.max(0, -side * held[positions[i]!]!);
  }
}

/** Whether a taker of that side could meet anybody within the band. */
function hasLevelInBand(market: Market, side: Side): boolean {
  const opposite = market.opposite(side);
  return opposite.count > 0 && side * (bandLimit(market, side) - opposite.bestTicks()) >= 0;
}

/** Version 2: offers those with something to close that the best level would not bankrupt. */
function offerAll(market: Market, side: Side, again: Selection): void {
  const { held } = market.positions;
  const ticks = market.opposite(side).bestTicks();
  for (const book of market.stopBooks) {
    if (book.side !== side) continue;
    for (const { count, ids, positions } of book.triggered) {
      for (let i = 0; i < count; i++) {
        const row = positions[i]!;
        const weight = -side * held[row]! * market.markUnit;
        if (weight <= 0 || weight < again.floor) continue;
        if (canCloseAt(market, row, ticks)) again.offer(weight, ids[i]!, 0);
      }
    }
  }
}

/** From version 3 on: those that follow, by id, the one that an earlier tick looked at last, all around. */
function offerNext(s: VenueTables, market: Market, side: Side, again: Selection): void {
  const { orders } = s;
  const { stopLines } = market;
  const ticks = market.opposite(side).bestTicks();
  const place = 2 * market.number + (side === LONG ? 0 : 1);
  let last = s.lookedAgain[place] ?? 0;
  const first = stopLines.triggeredAfter(side, last);
  if (first === NONE) return;
  let order = first;
  for (let looks = 0; looks < s.rules.looksAgainPerTick; looks++) {
    const id = orders.id(order);
    const row = orders.position(order);
    const weight = orders.remaining(order) * market.markUnit;
    if (weight >= again.floor && canCloseAt(market, row, ticks)) again.offer(weight, id, 0);
    last = id;
    order = stopLines.nextTriggered(side, order);
    if (order === first) break;
  }
  const looked = s.markets.flatMap((_, at) => [2 * at, 2 * at + 1]);
  s.lookedAgain = looked.map((at) => (at === place ? last : (s.lookedAgain[at] ?? 0)));
}

function rankChunk(
  market: Market,
  side: Side,
  chunk: StopChunk,
  closing: Turns,
  others: Turns,
): void {
  const { markUnit } = market;
  const { count, lots, ids, accounts } = chunk;
  for (let i = 0; i < count; i++) {
    const turns = isClosing(market, side, chunk, i) ? closing : others;
    if (turns.needsRanking) turns.rank(accounts[i]!, lots[i]! * markUnit, ids[i]!);
  }
}

/** Whether a stop closes its position or a part of it, and opens nothing. */
function isClosing({ positions }: Market, side: Side, chunk: StopChunk, i: number): boolean {
  if (chunk.kinds[i] !== PLAIN_STOP) return true;
  const bounds = side === LONG ? LONG_BOUNDS : SHORT_BOUNDS;
  const size = chunk.lots[i]!;
  const row = chunk.positions[i]!;
  return size < bounds[positions.sizes[row]!]! && size <= -side * positions.held[row]!;
}

/** Accounts whose largest stops are kept before those that cannot be chosen are dropped. */
const CROWD = 4 * LIMIT;

/** The waiting stops of one class, by account. */
class Turns {
  stops = 0;
  /** Whether the largest stop of each account does not settle the choice. */
  needsRanking = false;
  /** A stop of a lower weight, or of this weight and a higher id, cannot be chosen. */
  floor = 0;
  private floorId = 0;
  /** Accounts that are kept. */
  accounts = 0;
  private limit = 0;
  /** By account: its place among the accounts kept, from 1; 0 if it has none. */
  private placeOf = int32(0);
  /** By place: the account, and its largest stop. */
  private readonly accountAt = new Int32Array(CROWD + 1);
  private readonly largest = new Float64Array(CROWD + 1);
  private readonly largestId = new Float64Array(CROWD + 1);
  /** By place: the account's largest stops, where more than one of an account may be served. */
  private readonly ranked: Selection[] = [];
  private readonly turn = new Selection(LIMIT);

  begin(accounts: number, limit: number, floor: number): void {
    this.stops = 0;
    this.accounts = 0;
    this.limit = limit;
    this.floor = floor;
    this.floorId = Number.POSITIVE_INFINITY;
    // All zeros between two choices: nothing is copied.
    if (accounts > this.placeOf.length) this.placeOf = int32(2 * accounts);
  }

  /** Keeps the largest of each account while it may be chosen. */
  note(account: number, weight: number, id: number): void {
    if (weight < this.floor || (weight === this.floor && id > this.floorId)) return;
    let place = this.placeOf[account]!;
    if (place === 0) {
      if (this.accounts === CROWD) this.dropSmall();
      place = ++this.accounts;
      this.placeOf[account] = place;
      this.accountAt[place] = account;
    } else {
      const largest = this.largest[place]!;
      if (weight < largest || (weight === largest && id > this.largestId[place]!)) return;
    }
    this.largest[place] = weight;
    this.largestId[place] = id;
  }

  /** How many of the noted stops may be served, at most the limit it began with. */
  share(limit: number): void {
    this.limit = limit;
    this.needsRanking = this.accounts < limit && this.stops > this.accounts;
    if (!this.needsRanking) return;
    // The other accounts take one turn each at least.
    const depth = limit - this.accounts + 1;
    for (let place = 1; place <= this.accounts; place++) {
      const ranked = this.ranked[place] ?? new Selection(LIMIT);
      ranked.begin(depth);
      this.ranked[place] = ranked;
    }
  }

  rank(account: number, weight: number, id: number): void {
    this.ranked[this.placeOf[account]!]!.offer(weight, id, 0);
  }

  /** Writes the chosen ids from an index on; returns the index after the last. */
  take(ids: Float64Array, from: number): number {
    if (!this.needsRanking) {
      this.selectLargest();
      return this.takeTurn(ids, from);
    }
    const { turn } = this;
    const end = from + Math.min(this.limit, this.stops);
    for (let place = 1; place <= this.accounts; place++) this.ranked[place]!.sort();
    let at = from;
    for (let round = 0; at < end; round++) {
      turn.begin(end - at);
      for (let place = 1; place <= this.accounts; place++) {
        const ranked = this.ranked[place]!;
        if (round < ranked.count) turn.offer(ranked.weight(round), ranked.tie(round), 0);
      }
      turn.sort();
      at = this.takeTurn(ids, at);
    }
    return at;
  }

  end(): void {
    for (let place = 1; place <= this.accounts; place++) this.placeOf[this.accountAt[place]!] = 0;
  }

  private selectLargest(): void {
    this.turn.begin(this.limit);
    for (let place = 1; place <= this.accounts; place++) {
      this.turn.offer(this.largest[place]!, this.largestId[place]!, 0);
    }
    this.turn.sort();
  }

  /** Keeps the accounts with the `limit` largest stops; nothing below them can be chosen. */
  private dropSmall(): void {
    this.selectLargest();
    const last = this.turn.count - 1;
    this.floor = this.turn.weight(last);
    this.floorId = this.turn.tie(last);
    let kept = 0;
    for (let place = 1; place <= this.accounts; place++) {
      const account = this.accountAt[place]!;
      const weight = this.largest[place]!;
      const id = this.largestId[place]!;
      if (weight < this.floor || (weight === this.floor && id > this.floorId)) {
        this.placeOf[account] = 0;
        continue;
      }
      this.placeOf[account] = ++kept;
      this.accountAt[kept] = account;
      this.largest[kept] = weight;
      this.largestId[kept] = id;
    }
    this.accounts = kept;
  }

  private takeTurn(ids: Float64Array, from: number): number {
    const { turn } = this;
    for (let i = 0; i < turn.count; i++) ids[from + i] = turn.tie(i);
    return from + turn.count;
  }
}
