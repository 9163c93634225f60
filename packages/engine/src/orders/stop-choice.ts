/**
 * Which waiting stops a tick serves: closing ones before others, in each class one per account in
 * turn, the largest notional at mark first. Two passes over the waiting stops at most, each with
 * constant work per stop; no sort but that of the chosen ones.
 */
import { LONG, SHORT } from "../commands.js";
import { LIQUIDATIONS_AND_STOPS_PER_COMMAND as LIMIT } from "../config.js";
import { Selection } from "../selection.js";
import type { Market } from "../state/market.js";
import { closingBounds } from "../state/positions.js";
import type { StopBook } from "../state/stop-book.js";
import type { StopChunk } from "../state/stop-chunk.js";
import type { VenueState } from "../state/venue.js";

// Most stops do not close their position; a byte of it usually tells, and a byte is in the cache.
const LONG_BOUNDS = closingBounds(LONG);
const SHORT_BOUNDS = closingBounds(SHORT);

export class StopChoice {
  /** Ids of the chosen stops, in order of service. */
  readonly ids = new Float64Array(LIMIT);
  count = 0;
  private readonly closing = new Turns();
  private readonly others = new Turns();

  /** Chooses at most `limit` of the stops that wait in live markets. */
  choose(s: VenueState, limit: number): void {
    const { closing, others } = this;
    this.count = 0;
    closing.begin(s.accounts.rows, limit);
    others.begin(s.accounts.rows, limit);
    this.forEachBook(s, countBook);
    closing.share(limit);
    others.share(limit - Math.min(limit, closing.stops));
    if (closing.needsRanking || others.needsRanking) this.forEachBook(s, rankBook);
    this.count = closing.take(this.ids, 0);
    this.count = others.take(this.ids, this.count);
    closing.end();
    others.end();
  }

  private forEachBook(
    s: VenueState,
    visit: (market: Market, book: StopBook, closing: Turns, others: Turns) => void,
  ): void {
    for (const market of s.markets) {
      if (!s.isLive(market)) continue;
      visit(market, market.longStops, this.closing, this.others);
      visit(market, market.shortStops, this.closing, this.others);
    }
  }
}

function countBook(market: Market, book: StopBook, closing: Turns, others: Turns): void {
  for (const chunk of book.reached) countChunk(market, book.sign, chunk, closing, others);
}

/**
 * One step per stop, over arrays in sequence. Once enough accounts have large closing stops, only a
 * stop that is as large matters, of whatever class: nothing else of the others is read.
 */
function countChunk(
  market: Market,
  sign: number,
  chunk: StopChunk,
  closing: Turns,
  others: Turns,
): void {
  const { held, sizes } = market.positions;
  const { markUnit } = market;
  const { count, lots, ids, positions, accounts, reduceOnly } = chunk;
  const bounds = sign === LONG ? LONG_BOUNDS : SHORT_BOUNDS;
  let noted = 0;
  let unread = 0;
  for (let i = 0; i < count; i++) {
    const size = lots[i]!;
    const weight = size * markUnit;
    if (weight < closing.floor) {
      unread++;
      continue;
    }
    const row = positions[i]!;
    const bound = bounds[sizes[row]!]!;
    // Half of the bound is what a position of its class has at least.
    const closes = size < bound && (2 * size <= bound || size <= -sign * held[row]!);
    if (closes || reduceOnly[i] !== 0) {
      closing.note(accounts[i]!, weight, ids[i]!);
      noted++;
    } else if (weight >= others.floor) {
      others.note(accounts[i]!, weight, ids[i]!);
    }
  }
  closing.stops += noted;
  others.stops += count - unread - noted;
}

function rankBook(market: Market, book: StopBook, closing: Turns, others: Turns): void {
  const { held, sizes } = market.positions;
  const { markUnit } = market;
  const { sign } = book;
  const bounds = sign === LONG ? LONG_BOUNDS : SHORT_BOUNDS;
  for (const { count, lots, ids, positions, accounts, reduceOnly } of book.reached) {
    for (let i = 0; i < count; i++) {
      const size = lots[i]!;
      const row = positions[i]!;
      if (reduceOnly[i] !== 0 || (size < bounds[sizes[row]!]! && size <= -sign * held[row]!)) {
        if (closing.needsRanking) closing.rank(accounts[i]!, size * markUnit, ids[i]!);
      } else if (others.needsRanking) {
        others.rank(accounts[i]!, size * markUnit, ids[i]!);
      }
    }
  }
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
  private accounts = 0;
  private limit = 0;
  /** By account: its place among the accounts kept, from 1; 0 if it has none. */
  private placeOf = new Int32Array(0);
  /** By place: the account, and its largest stop. */
  private readonly accountAt = new Int32Array(CROWD + 1);
  private readonly largest = new Float64Array(CROWD + 1);
  private readonly largestId = new Float64Array(CROWD + 1);
  /** By place: the account's largest stops, where more than one of an account may be served. */
  private readonly ranked: Selection[] = [];
  private readonly turn = new Selection(LIMIT);

  begin(accounts: number, limit: number): void {
    this.stops = 0;
    this.accounts = 0;
    this.limit = limit;
    this.floor = limit === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    // All zeros between two choices: nothing is copied.
    if (accounts > this.placeOf.length) this.placeOf = new Int32Array(2 * accounts);
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
