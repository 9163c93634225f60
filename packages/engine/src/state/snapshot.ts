/**
 * The whole state as canonical bytes, and back. Rows are written in an order that no history can
 * change (accounts by number, positions by market and account, orders and sessions by id), so two
 * venues have equal bytes exactly when they are in equal states: hashing the bytes hashes the state.
 */
import { readConfig, writeConfig } from "../config-bytes.js";
import { readDepositAdditions, writeDepositAdditions } from "../deposits/deposit-additions.js";
import { readDeposits, writeDeposits } from "../deposits/deposit-bytes.js";
import { adopt } from "../genesis.js";
import { allRows } from "../margin/rows.js";
import { readSessions, writeSessions } from "../sessions/session-bytes.js";
import { ByteReader, ByteWriter } from "./bytes.js";
import { MARKET_WORDS, type Market } from "./market.js";
import { ORDER, ORDER_WORDS } from "./orders.js";
import { POSITION_WORDS } from "./positions.js";
import { rebuildIndexes } from "./rebuild.js";
import { ACCOUNT_WORDS, GLOBAL_WORDS, VenueState } from "./venue.js";

/** The form of the bytes. Another form gives the same state other bytes, and so another hash. */
export const STATE_FORMAT = 2;

export class SnapshotUnreadable extends Error {
  override readonly name = "SnapshotUnreadable";
}

export function writeSnapshot(s: VenueState): Uint8Array {
  const w = new ByteWriter();
  w.number(STATE_FORMAT);
  w.numbers([s.seq, s.timeMs, s.lastTickMs, s.cohort, s.config === null ? 0 : 1]);
  if (s.config !== null) writeConfig(w, s.config);
  w.row(s.globals.data, 0, GLOBAL_WORDS);
  w.row(s.figures.data, 0, s.markets.length * MARKET_WORDS);
  w.texts(s.addresses);
  w.row(s.accounts.data, 0, s.addresses.length * ACCOUNT_WORDS);
  w.texts([...s.allowlist].sort());
  for (const market of s.markets) {
    const rows = allRows(market);
    w.number(rows.length);
    for (const row of rows) {
      w.row(market.positions.table.data, row * POSITION_WORDS, POSITION_WORDS);
    }
  }
  writeOrders(w, s);
  writeSessions(w, s);
  writeDeposits(w, s);
  w.numbers([...s.writers].sort(([a], [b]) => a - b).flat());
  w.numbers(s.carriedLiquidations);
  w.numbers(s.carriedStops);
  w.numbers(s.carriedDisconnects);
  writeDepositAdditions(w, s);
  return w.finish();
}

/** Refuses with `SnapshotUnreadable` what no `writeSnapshot` can have written. */
export function readSnapshot(bytes: Uint8Array): VenueState {
  try {
    return readState(bytes);
  } catch (error) {
    if (error instanceof SnapshotUnreadable) throw error;
    throw new SnapshotUnreadable(error instanceof Error ? error.message : String(error));
  }
}

function readState(bytes: Uint8Array): VenueState {
  const r = new ByteReader(bytes);
  const format = r.number();
  if (format !== STATE_FORMAT) {
    throw new SnapshotUnreadable(`format ${format}, expected ${STATE_FORMAT}`);
  }
  const s = new VenueState();
  const [seq, timeMs, lastTickMs, cohort, started] = r.numbers();
  s.seq = seq!;
  s.timeMs = timeMs!;
  s.lastTickMs = lastTickMs!;
  s.cohort = cohort!;
  if (started === 1) adopt(s, readConfig(r));
  r.row(s.globals.data, 0, GLOBAL_WORDS);
  r.row(s.figures.data, 0, s.markets.length * MARKET_WORDS);
  const addresses = r.texts();
  for (const address of addresses.slice(1)) s.openAccount(address);
  r.row(s.accounts.data, 0, addresses.length * ACCOUNT_WORDS);
  for (const address of r.texts()) s.allowlist.add(address);
  for (const market of s.markets) {
    const { table } = market.positions;
    let account = 0;
    r.repeat(() => {
      const row = table.append();
      r.row(table.data, row * POSITION_WORDS, POSITION_WORDS);
      account = ascending(account, table.data[row * POSITION_WORDS]!, addresses.length);
    });
  }
  readOrders(r, s);
  readSessions(r, s);
  readDeposits(r, s);
  const writers = r.numbers();
  for (let i = 0; i < writers.length; i += 2) s.writers.set(writers[i]!, writers[i + 1]!);
  s.carriedLiquidations = r.numbers();
  s.carriedStops = r.numbers();
  s.carriedDisconnects = r.numbers();
  readDepositAdditions(r, s);
  if (!r.isAtEnd) throw new SnapshotUnreadable("bytes are left over");
  rebuildIndexes(s);
  return s;
}

function writeOrders(w: ByteWriter, s: VenueState): void {
  const { data, rows } = s.orders.table;
  const open: number[] = [];
  for (let row = 0; row < rows; row++) if (data[row * ORDER_WORDS] !== 0) open.push(row);
  open.sort((a, b) => data[a * ORDER_WORDS]! - data[b * ORDER_WORDS]!);
  w.number(open.length);
  const words = new Float64Array(ORDER_WORDS);
  for (const row of open) {
    words.set(data.subarray(row * ORDER_WORDS, (row + 1) * ORDER_WORDS));
    // Where its position's row lies is derived, and differs between equal states.
    words[ORDER.POSITION] = 0;
    w.row(words, 0, ORDER_WORDS);
  }
}

function readOrders(r: ByteReader, s: VenueState): void {
  let id = 0;
  r.repeat(() => {
    const row = s.orders.table.append();
    const { data } = s.orders.table;
    const at = row * ORDER_WORDS;
    r.row(data, at, ORDER_WORDS);
    id = ascending(id, data[at + ORDER.ID]!, s.seq + 1);
    const market = s.markets[data[at + ORDER.MARKET]!];
    const account = data[at + ORDER.ACCOUNT]!;
    if (market === undefined || !hasPosition(market, account) || data[at + ORDER.POSITION] !== 0) {
      throw new SnapshotUnreadable(`order ${id} belongs to nobody`);
    }
  });
}

/** Positions were read in ascending account. */
function hasPosition(market: Market, account: number): boolean {
  const { data, rows } = market.positions.table;
  let low = 0;
  let high = rows;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data[middle * POSITION_WORDS]! < account) low = middle + 1;
    else high = middle;
  }
  return low < rows && data[low * POSITION_WORDS] === account;
}

/** The next number of a rising row of whole numbers below a bound. */
function ascending(previous: number, next: number, bound: number): number {
  if (Number.isSafeInteger(next) && next > previous && next < bound) return next;
  throw new SnapshotUnreadable(`${next} cannot follow ${previous}`);
}
