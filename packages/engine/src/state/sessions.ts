/**
 * Sessions by number and by token hash, and the sign-in nonces that were used. There is no undo:
 * changes are the last step of a command, after everything that could fail.
 *
 * A session is a row of words in an array that grows without copying; `SessionRow` reads one. Objects
 * and `Map`s for half a million sessions would make single sign-ins wait for their growth, and every
 * garbage collection for their number.
 */
import { IdIndex, NONE } from "./id-index.js";
import { float64 } from "./memory.js";
import { NonceBlocks, NonceWindow } from "./nonce-window.js";
import { type Places, Presence } from "./presence.js";
import { FIXED_SEED, type HashSeed } from "./seeded-hash.js";
import { Int32Segments, ValueSegments } from "./segments.js";
import { TextCells } from "./text-cells.js";
import { TextIndex } from "./text-index.js";
import { Timers } from "./timers.js";
import { UsedNonces } from "./used-nonces.js";

export interface Session {
  readonly number: number;
  readonly account: number;
  /** Fingerprint of the key that must sign its orders. */
  readonly key: string;
  readonly tokenHash: string;
  readonly expiresAtMs: number;
  readonly maxOrderNotionalMicros: number;
  readonly maxNotionalMicros: number;
  /** null: every market. */
  readonly markets: ReadonlySet<number> | null;
  /** Whether its open orders end with its last connection. */
  readonly cancelOnDisconnect: boolean;
}

/** The words of a row; literals, see orders.ts. The last six are those of its nonce window. */
const ROW_WORDS = 16;
const ROW_SHIFT = 10;
const ROWS = 1 << ROW_SHIFT;
const ROW_MASK = ROWS - 1;
const ACCOUNT = 1;
const CANCELING = 5;
const WINDOW = 10;
/** More sessions than can be connected; an account times this is a safe integer. */
const KEY_SPAN = 2 ** 22;

/** A session of the book, read and written in place; valid until it is moved or the session ends. */
export class SessionRow implements Session {
  readonly nonces: NonceWindow;

  constructor(
    private readonly texts: SessionTexts,
    blocks: NonceBlocks,
    public row: number,
    private words: Float64Array,
    private base: number,
  ) {
    this.nonces = new NonceWindow(blocks, words, base + WINDOW);
  }

  moveTo(row: number, words: Float64Array, base: number): void {
    this.row = row;
    this.words = words;
    this.base = base;
    this.nonces.moveTo(words, base + WINDOW);
  }

  get number(): number {
    return this.words[this.base]!;
  }
  get account(): number {
    return this.words[this.base + 1]!;
  }
  get expiresAtMs(): number {
    return this.words[this.base + 2]!;
  }
  get maxOrderNotionalMicros(): number {
    return this.words[this.base + 3]!;
  }
  get maxNotionalMicros(): number {
    return this.words[this.base + 4]!;
  }
  get cancelOnDisconnect(): boolean {
    return this.words[this.base + 5] !== 0;
  }
  set cancelOnDisconnect(isOn: boolean) {
    this.words[this.base + 5] = isOn ? 1 : 0;
  }
  /** The account's sessions before and after it, by number; NONE at the ends. */
  get previous(): number {
    return this.words[this.base + 6]!;
  }
  set previous(row: number) {
    this.words[this.base + 6] = row;
  }
  get next(): number {
    return this.words[this.base + 7]!;
  }
  set next(row: number) {
    this.words[this.base + 7] = row;
  }
  get markets(): ReadonlySet<number> | null {
    return this.words[this.base + 8] === 0 ? null : this.texts.markets.get(this.row);
  }
  get key(): string {
    return this.texts.keys.get(this.row);
  }
  set key(key: string) {
    this.texts.keys.set(this.row, key);
  }
  get tokenHash(): string {
    return this.texts.tokens.get(this.row);
  }

  write(session: Session): void {
    const { words, base, row } = this;
    words[base] = session.number;
    words[base + 1] = session.account;
    words[base + 2] = session.expiresAtMs;
    words[base + 3] = session.maxOrderNotionalMicros;
    words[base + 4] = session.maxNotionalMicros;
    words[base + 5] = session.cancelOnDisconnect ? 1 : 0;
    words[base + 6] = NONE;
    words[base + 7] = NONE;
    words[base + 8] = session.markets === null ? 0 : 1;
    this.texts.keys.set(row, session.key);
    this.texts.tokens.set(row, session.tokenHash);
    this.texts.markets.set(row, session.markets);
    this.nonces.begin();
  }

  /** Empties the row; a number of 0 marks a free one. */
  clear(): void {
    this.nonces.release();
    this.words[this.base] = 0;
    this.texts.keys.set(this.row, "");
    this.texts.tokens.set(this.row, "");
    this.texts.markets.set(this.row, null);
  }
}

class SessionTexts {
  readonly keys = new ValueSegments<string>();
  readonly tokens = new TextCells(64);
  readonly markets = new ValueSegments<ReadonlySet<number> | null>();
}

export class SessionBook {
  size = 0;
  readonly usedNonces: UsedNonces;
  /** By number, when each expires; derived. */
  readonly expiries: Timers;
  private readonly segments: Float64Array[] = [];
  private readonly texts = new SessionTexts();
  private readonly blocks = new NonceBlocks();
  private readonly rowOf: IdIndex;
  /** At which writers each is connected. */
  readonly presence: Presence;
  private readonly byToken: TextIndex;
  /** By account: its first and last session + 1, and how many it has; derived. */
  private readonly firstOf = new Int32Segments();
  private readonly lastOf = new Int32Segments();
  private readonly countOf = new Int32Segments();
  private rows = 0;
  private readonly free = new Int32Segments();
  private freeCount = 0;
  /** What `find` returns: a command concerns one session. */
  private readonly found: SessionRow;

  constructor(seed: HashSeed = FIXED_SEED) {
    this.usedNonces = new UsedNonces(seed);
    this.expiries = new Timers(seed);
    this.rowOf = new IdIndex(undefined, seed);
    this.presence = new Presence(this.rowOf);
    this.byToken = new TextIndex(this.texts.tokens, seed);
    const nothing = new Float64Array(ROW_WORDS);
    this.found = new SessionRow(this.texts, this.blocks, NONE, nothing, 0);
  }

  /** The session, valid until the next call; for the commands of a session. */
  find(number: number): SessionRow | undefined {
    const row = this.rowOf.get(number);
    if (row === NONE) return undefined;
    this.found.moveTo(row, this.segments[row >>> ROW_SHIFT]!, (row & ROW_MASK) * ROW_WORDS);
    return this.found;
  }

  /** A copy of the session. */
  get(number: number): Session | undefined {
    const row = this.rowOf.get(number);
    return row === NONE ? undefined : copyOf(this.at(row));
  }

  withToken(tokenHash: string): Session | undefined {
    const row = this.byToken.get(tokenHash);
    return row === NONE ? undefined : copyOf(this.at(row));
  }

  /** The order that the session placed with the nonce, or 0. */
  orderOf(number: number, nonce: number): number {
    const row = this.rowOf.get(number);
    return row === NONE ? 0 : this.at(row).nonces.orderOf(nonce);
  }

  /** All sessions, ascending number. */
  all(): SessionRow[] {
    const sessions: SessionRow[] = [];
    for (let row = 0; row < this.rows; row++) {
      const session = this.at(row);
      if (session.number !== 0) sessions.push(session);
    }
    return sessions.sort((a, b) => a.number - b.number);
  }

  /** Adds a session; an account's sessions are added by ascending number. */
  open(session: Session): SessionRow {
    const row = this.freeCount > 0 ? this.free.get(--this.freeCount) : this.rows++;
    if (row >>> ROW_SHIFT === this.segments.length) this.segments.push(float64(ROWS * ROW_WORDS));
    const added = this.at(row);
    added.write(session);
    this.size++;
    this.rowOf.set(session.number, row);
    this.byToken.add(session.tokenHash, row);
    this.expiries.set(session.number, session.expiresAtMs);
    this.append(added);
    return added;
  }

  close(number: number): void {
    const row = this.rowOf.get(number);
    const session = this.at(row);
    this.unlink(session);
    this.presence.forget(row);
    this.size--;
    this.rowOf.delete(number);
    this.byToken.delete(session.tokenHash, row);
    this.expiries.delete(number);
    session.clear();
    this.free.set(this.freeCount++, row);
  }

  /** The account's oldest session if it has as many as it may have; else undefined. */
  oldestBeyond(account: number, limit: number): Session | undefined {
    if (this.countOf.get(account) < limit) return undefined;
    return this.at(this.firstOf.get(account) - 1);
  }

  /** Copies of the account's sessions, oldest first. */
  ofOwner(account: number): Session[] {
    const sessions: Session[] = [];
    for (let row = this.firstOf.get(account) - 1; row !== NONE; ) {
      const session = this.at(row);
      sessions.push(copyOf(session));
      row = session.next;
    }
    return sessions;
  }

  /**
   * Account and number of each session with cancel-on-disconnect that is connected at one of the places
   * and nowhere else, by account, then number. `most`: how many there can be, perhaps a hundred thousand.
   */
  losing(places: Places, most: number): Float64Array {
    const numbers = float64(most);
    const keys = float64(most);
    let count = 0;
    for (let row = 0; row < this.rows; row++) {
      if (!this.presence.rowIsOnlyAt(row, places)) continue;
      const words = this.segments[row >>> ROW_SHIFT]!;
      const base = (row & ROW_MASK) * ROW_WORDS;
      if (words[base + CANCELING] === 0) continue;
      numbers[count] = words[base]!;
      keys[count] = words[base + ACCOUNT]! * KEY_SPAN + count;
      count++;
    }
    return pairsOf(keys.subarray(0, count).sort(), numbers);
  }

  private at(row: number): SessionRow {
    const words = this.segments[row >>> ROW_SHIFT]!;
    return new SessionRow(this.texts, this.blocks, row, words, (row & ROW_MASK) * ROW_WORDS);
  }

  /** Appends a session to its account's list. */
  private append(session: SessionRow): void {
    const { row, account } = session;
    const last = this.lastOf.get(account) - 1;
    session.previous = last;
    if (last === NONE) this.firstOf.set(account, row + 1);
    else this.at(last).next = row;
    this.lastOf.set(account, row + 1);
    this.countOf.set(account, this.countOf.get(account) + 1);
  }

  private unlink({ account, previous, next }: SessionRow): void {
    if (previous === NONE) this.firstOf.set(account, next + 1);
    else this.at(previous).next = next;
    if (next === NONE) this.lastOf.set(account, previous + 1);
    else this.at(next).previous = previous;
    this.countOf.set(account, this.countOf.get(account) - 1);
  }
}

/** Pairs of account and number, from sorted keys of account and place among the numbers. */
function pairsOf(keys: Float64Array, numbers: Float64Array): Float64Array {
  const pairs = float64(2 * keys.length);
  for (let i = 0; i < keys.length; i++) {
    const account = Math.floor(keys[i]! / KEY_SPAN);
    const number = numbers[keys[i]! - account * KEY_SPAN]!;
    pairs[2 * i] = account;
    // Of one account there are a few, in the order of their rows.
    let at = 2 * i + 1;
    for (; at > 1 && pairs[at - 3] === account && pairs[at - 2]! > number; at -= 2) {
      pairs[at] = pairs[at - 2]!;
    }
    pairs[at] = number;
  }
  return pairs;
}

function copyOf(session: Session): Session {
  const { number, account, key, tokenHash, expiresAtMs } = session;
  const { maxOrderNotionalMicros, maxNotionalMicros, markets, cancelOnDisconnect } = session;
  return {
    number,
    account,
    key,
    tokenHash,
    expiresAtMs,
    maxOrderNotionalMicros,
    maxNotionalMicros,
    markets,
    cancelOnDisconnect,
  };
}
