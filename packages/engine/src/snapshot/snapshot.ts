/**
 * The whole state as canonical bytes, and back. Rows are written in an order that no history can
 * change (accounts by number, positions by market and account, orders and sessions by id), so two
 * venues have equal bytes exactly when their states are equal: the hash of the bytes is that of the
 * state.
 */
import { isOrderId, parentOf } from "@perpgate/protocol/order-id";
import { REQUEST_KEPT_MS } from "../config.js";
import { adopt } from "../genesis.js";
import { Scratch } from "../scratch.js";
import { BATCH_WORDS } from "../state/batch-progress.js";
import { LOST_WORDS } from "../state/end-queue.js";
import { GUARD_WORDS } from "../state/index-guard.js";
import { MARKET_WORDS } from "../state/market.js";
import { EXTRA_WORDS } from "../state/order-extras.js";
import { NONE, ORDER_WORDS, type OrderStore, RANKS_PER_COMMAND } from "../state/orders.js";
import { POSITION_WORDS, type PositionStore } from "../state/positions.js";
import { FIXED_SEED, type HashSeed } from "../state/seeded-hash.js";
import { TOTALS_WORDS } from "../state/totals.js";
import { VenueState } from "../state/venue.js";
import { ACCOUNT_WORDS, FUND_SAMPLES } from "../state/venue-tables.js";
import { RULE_SETS, type RuleSet, ruleSetOf, UnknownToRelease } from "../versions.js";
import { BytesUnreadable, StateReader, StateWriter } from "./bytes.js";
import { readConfig, writeConfig } from "./config-bytes.js";
import {
  readDepositAdditions,
  readDeposits,
  writeDepositAdditions,
  writeDeposits,
} from "./deposit-bytes.js";
import { rebuildIndexes } from "./rebuild.js";
import { readSessions, writeSessions } from "./session-bytes.js";
import { hasWithdrawals, readWithdrawals, writeWithdrawals } from "./withdrawal-bytes.js";
import { readWriters, writeWriters } from "./writer-bytes.js";

const REQUEST_ID = /^[0-9a-f]{32}$/;

/** The unsigned requests that are kept, by position. */
function writeRequests(w: StateWriter, s: VenueState): void {
  const kept = s.requests.entries(s.timeMs);
  w.number(kept.length);
  for (const { id, position, timeMs, words } of kept) {
    w.text(id);
    w.numbers([position, timeMs, ...words]);
  }
}

function readRequests(r: StateReader, s: VenueState): void {
  let last = 0;
  r.repeat(() => {
    const id = r.text();
    const [position = 0, timeMs = 0, ...words] = r.numbers();
    const isNext = position > last && position <= s.seq && Number.isSafeInteger(position);
    const isYoung = timeMs <= s.timeMs && timeMs + REQUEST_KEPT_MS > s.timeMs;
    if (!isNext || !isYoung || !REQUEST_ID.test(id) || s.requests.get(id, s.timeMs) !== undefined) {
      throw new BytesUnreadable("a request that is kept is damaged");
    }
    last = position;
    s.requests.keep({ id, position, timeMs, words: Float64Array.from(words) });
  });
}

/** The format of the bytes. Another format gives the same state another hash. */
export const STATE_FORMAT = 6;

export class SnapshotUnreadable extends Error {
  override readonly name = "SnapshotUnreadable";
  constructor(
    message: string,
    /** The format of the bytes, if it is another one than this release reads. */
    readonly format?: number,
  ) {
    super(message);
  }
}

export function writeSnapshot(s: VenueState): Uint8Array {
  const w = new StateWriter();
  w.number(STATE_FORMAT);
  const started = s.config === null ? 0 : 1;
  w.numbers([s.rules.version, s.seq, s.timeMs, s.lastTickMs, s.cohort, started]);
  if (s.config !== null) writeConfig(w, s.config);
  w.row(s.totals.table.data, 0, TOTALS_WORDS);
  w.row(s.batch.table.data, 0, BATCH_WORDS);
  for (const { base } of s.markets) w.row(s.figures.data, base, MARKET_WORDS);
  w.texts(s.addresses.all());
  w.row(s.accounts.data, 0, s.addresses.length * ACCOUNT_WORDS);
  w.texts([...s.allowlist].sort());
  w.row(s.fundSamples.data, 0, FUND_SAMPLES * 2);
  for (const market of s.markets) w.row(market.guard.table.data, 0, GUARD_WORDS);
  for (const market of s.markets) {
    const rows = market.positions.allRows();
    w.number(rows.length);
    for (const row of rows) {
      w.row(market.positions.table.data, row * POSITION_WORDS, POSITION_WORDS);
    }
  }
  writeOrders(w, s);
  writeSessions(w, s);
  writeDeposits(w, s);
  writeWriters(w, s);
  w.numbers(s.reaches.words());
  w.numbers(s.carriedDisconnects);
  w.numbers(s.operatorTimes);
  if (s.rules.endsInRounds) {
    w.numbers(s.ends.fresh);
    w.numbers(s.ends.again);
    for (const { number } of s.markets) w.numbers(s.behind[number] ?? []);
    w.numbers(s.lookedAgain);
  }
  if (s.rules.keepsRequests) writeRequests(w, s);
  const withWithdrawals = hasWithdrawals(s);
  writeDepositAdditions(w, s, withWithdrawals);
  if (withWithdrawals) writeWithdrawals(w, s);
  return w.finish();
}

/**
 * @throws SnapshotUnreadable for bytes that `writeSnapshot` cannot have written.
 * @throws UnknownToRelease for a version of the rules that is not among the rule sets.
 */
export function readSnapshot(
  bytes: Uint8Array,
  ruleSets: readonly RuleSet[] = RULE_SETS,
  seed: HashSeed = FIXED_SEED,
): VenueState {
  try {
    return readState(bytes, ruleSets, seed);
  } catch (error) {
    if (error instanceof SnapshotUnreadable || error instanceof UnknownToRelease) throw error;
    throw new SnapshotUnreadable(error instanceof Error ? error.message : String(error));
  }
}

function readState(bytes: Uint8Array, ruleSets: readonly RuleSet[], seed: HashSeed): VenueState {
  const r = new StateReader(bytes);
  const format = r.number();
  if (format !== STATE_FORMAT) {
    throw new SnapshotUnreadable(`format ${format}, expected ${STATE_FORMAT}`, format);
  }
  const s = new VenueState(new Scratch(), ruleSets, seed);
  const [version, seq, timeMs, lastTickMs, cohort, started] = r.numbers();
  s.rules = ruleSetOf(ruleSets, version);
  s.seq = seq!;
  s.timeMs = timeMs!;
  s.lastTickMs = lastTickMs!;
  s.cohort = cohort!;
  if (started === 1) adopt(s, readConfig(r));
  r.row(s.totals.table.data, 0, TOTALS_WORDS);
  r.row(s.batch.table.data, 0, BATCH_WORDS);
  for (const { base } of s.markets) r.row(s.figures.data, base, MARKET_WORDS);
  const addresses = r.texts();
  for (const address of addresses.slice(1)) s.openAccount(address);
  r.row(s.accounts.data, 0, addresses.length * ACCOUNT_WORDS);
  for (const address of r.texts()) s.allowlist.add(address);
  r.row(s.fundSamples.data, 0, FUND_SAMPLES * 2);
  for (const market of s.markets) r.row(market.guard.table.data, 0, GUARD_WORDS);
  for (const market of s.markets) {
    const { table } = market.positions;
    let account = 0;
    r.repeat(() => {
      const row = table.append();
      r.row(table.data, row * POSITION_WORDS, POSITION_WORDS);
      account = ascending(account, market.positions.account(row), addresses.length);
    });
  }
  readOrders(r, s);
  readSessions(r, s);
  readDeposits(r, s);
  readWriters(r, s);
  s.reaches.read(r.numbers());
  s.carriedDisconnects = readCarried(r);
  s.operatorTimes.push(...r.numbers());
  if (s.rules.endsInRounds) {
    s.ends.fresh = r.numbers();
    s.ends.again = r.numbers();
    s.behind = s.markets.map(() => r.numbers());
    s.lookedAgain = r.numbers();
  }
  if (s.rules.keepsRequests) readRequests(r, s);
  readDepositAdditions(r, s);
  for (const deposit of s.deposits.byId.values()) {
    s.deposits.note(deposit);
    s.deposits.countCredits(deposit, deposit.credits);
    if (deposit.reorged !== "" && deposit.reorgSettledAtMs === 0) s.deposits.countReorg(deposit, 1);
  }
  readWithdrawals(r, s);
  if (!r.isAtEnd) throw new SnapshotUnreadable("bytes are left over");
  rebuildIndexes(s);
  return s;
}

function readCarried(r: StateReader): Float64Array {
  const list = Float64Array.from(r.numbers());
  if (list.length % LOST_WORDS === 0) return list;
  throw new SnapshotUnreadable("the list of lost sessions is damaged");
}

function writeOrders(w: StateWriter, { orders }: VenueState): void {
  const rows = orders.openRows();
  w.number(rows.length);
  for (const row of rows) {
    w.row(orders.wordsOf(row), 0, ORDER_WORDS);
    const extras = orders.extrasRow(row);
    if (extras !== NONE) w.row(orders.extras.wordsOf(extras, orders.id(row)), 0, EXTRA_WORDS);
  }
}

function readOrders(r: StateReader, { orders, markets, seq }: VenueState): void {
  const words = new Float64Array(ORDER_WORDS);
  let id = 0;
  r.repeat(() => {
    r.row(words, 0, ORDER_WORDS);
    id = ascendingId(id, words[0]!, seq + 1);
    const row = orders.appendWords(words);
    const hasExtras = words[ORDER_WORDS - 1] === 1;
    if (hasExtras) readExtras(r, orders, row);
    // What the row cannot hold was never written.
    if (orders.wordsOf(row).some((word, i) => word !== words[i])) {
      throw new SnapshotUnreadable(`order ${id} is damaged`);
    }
    const positions = markets[orders.market(row)]?.positions;
    if (positions === undefined || !hasPosition(positions, orders.account(row))) {
      throw new SnapshotUnreadable(`order ${id} belongs to no position`);
    }
    checkRank(orders, row, seq);
  });
}

/** Orders are queued when they are placed or later. */
function checkRank(orders: OrderStore, row: number, seq: number): void {
  const rank = orders.rank(row);
  const queuedAt = Math.floor(rank / RANKS_PER_COMMAND);
  if (Number.isSafeInteger(rank) && queuedAt >= parentOf(orders.id(row)) && queuedAt <= seq) return;
  throw new SnapshotUnreadable(`order ${orders.id(row)} has rank ${rank}`);
}

function readExtras(r: StateReader, orders: OrderStore, row: number): void {
  const words = new Float64Array(EXTRA_WORDS);
  r.row(words, 0, EXTRA_WORDS);
  const [id] = words;
  if (id !== orders.id(row)) {
    throw new SnapshotUnreadable(`order ${orders.id(row)} has the terms of ${id}`);
  }
  const extras = orders.addExtras(row, words);
  if (orders.extras.wordsOf(extras, id).some((word, i) => !Object.is(word, words[i]))) {
    throw new SnapshotUnreadable(`order ${id} has terms that do not exist`);
  }
}

/** Bisection: positions were read in ascending account. */
function hasPosition(positions: PositionStore, account: number): boolean {
  const { rows } = positions.table;
  let low = 0;
  let high = rows;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positions.account(middle) < account) low = middle + 1;
    else high = middle;
  }
  return low < rows && positions.account(low) === account;
}

/** The same of the ids of orders and of their exits. */
function ascendingId(previous: number, next: number, bound: number): number {
  if (isOrderId(next) && next > previous && next < bound) return next;
  throw new SnapshotUnreadable(`${next} cannot follow ${previous}`);
}

/** Checks the next number of a rising sequence of whole numbers below a bound. */
function ascending(previous: number, next: number, bound: number): number {
  if (Number.isSafeInteger(next) && next > previous && next < bound) return next;
  throw new SnapshotUnreadable(`${next} cannot follow ${previous}`);
}
