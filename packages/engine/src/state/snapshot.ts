/**
 * The whole state as canonical bytes, and back. Rows are written in an order that no history can
 * change (accounts by number, positions by market and account, orders and sessions by id), so two
 * venues have equal bytes exactly when they are in equal states: hashing the bytes hashes the state.
 */
import type { AttestorKind, MarketConfig, VenueConfig } from "../config.js";
import { DEV_CREDIT_DELAY_MS } from "../config.js";
import type { Deposit, DepositStatus, Vote } from "../deposits/deposit-book.js";
import { depositKey } from "../deposits/deposit-commands.js";
import { adopt } from "../genesis.js";
import { allRows } from "../margin/rows.js";
import { NonceWindow } from "../sessions/nonce-window.js";
import { ByteReader, ByteWriter } from "./bytes.js";
import { MARKET_WORDS } from "./market.js";
import { ORDER, ORDER_WORDS } from "./orders.js";
import { POSITION_WORDS } from "./positions.js";
import { rebuildIndexes } from "./rebuild.js";
import { ACCOUNT_WORDS, GLOBAL_WORDS, VenueState } from "./venue.js";

const FORMAT = 1;

export class SnapshotUnreadable extends Error {
  override readonly name = "SnapshotUnreadable";
}

export function writeSnapshot(s: VenueState): Uint8Array {
  const w = new ByteWriter();
  w.number(FORMAT);
  w.numbers([s.position, s.timeMs, s.lastTickMs, s.cohort, s.config === null ? 0 : 1]);
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
  return w.finish();
}

export function readSnapshot(bytes: Uint8Array): VenueState {
  const r = new ByteReader(bytes);
  const format = r.number();
  if (format !== FORMAT) throw new SnapshotUnreadable(`format ${format}, expected ${FORMAT}`);
  const s = new VenueState();
  const [position, timeMs, lastTickMs, cohort, started] = r.numbers();
  s.position = position!;
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
    r.repeat(() => {
      const row = table.append();
      r.row(table.data, row * POSITION_WORDS, POSITION_WORDS);
    });
  }
  readOrders(r, s);
  readSessions(r, s);
  readDeposits(r, s);
  const writers = r.numbers();
  for (let i = 0; i < writers.length; i += 2) s.writers.set(writers[i]!, writers[i + 1]!);
  s.carriedLiquidations = r.numbers();
  s.carriedStops = r.numbers();
  if (!r.isAtEnd) throw new SnapshotUnreadable("bytes are left over");
  rebuildIndexes(s);
  return s;
}

function writeConfig(w: ByteWriter, config: VenueConfig): void {
  w.numbers([
    config.fundSeedMicros,
    config.backstopCapMicros,
    config.maxOpenOrders,
    config.attestors,
    config.attestorQuorum,
    config.devCreditMicros,
  ]);
  w.text(config.attestorKind);
  w.number(config.markets.length);
  for (const market of config.markets) {
    w.text(market.symbol);
    w.numbers([
      market.microsPerTickLot,
      market.takerFeePpm,
      market.makerFeePpm,
      market.bandPpm,
      market.impactNotionalMicros,
    ]);
    w.numbers(
      market.tiers.flatMap((tier) => [tier.upToMicros, tier.maxLeverage, tier.maintenancePpm]),
    );
  }
}

function readConfig(r: ByteReader): VenueConfig {
  const [fund, cap, maxOpenOrders, attestors, attestorQuorum, devCredit] = r.numbers();
  const attestorKind: AttestorKind = r.text() === "dev" ? "dev" : "chain";
  const markets: MarketConfig[] = [];
  r.repeat(() => {
    const symbol = r.text();
    const [microsPerTickLot, takerFeePpm, makerFeePpm, bandPpm, impactNotionalMicros] = r.numbers();
    const flat = r.numbers();
    markets.push({
      symbol,
      microsPerTickLot: microsPerTickLot!,
      takerFeePpm: takerFeePpm!,
      makerFeePpm: makerFeePpm!,
      bandPpm: bandPpm!,
      impactNotionalMicros: impactNotionalMicros!,
      tiers: Array.from({ length: flat.length / 3 }, (_, i) => ({
        upToMicros: flat[3 * i]!,
        maxLeverage: flat[3 * i + 1]!,
        maintenancePpm: flat[3 * i + 2]!,
      })),
    });
  });
  return {
    markets,
    fundSeedMicros: fund!,
    backstopCapMicros: cap!,
    maxOpenOrders: maxOpenOrders!,
    attestorKind,
    attestors: attestors!,
    attestorQuorum: attestorQuorum!,
    devCreditMicros: devCredit!,
  };
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
  r.repeat(() => {
    const row = s.orders.table.append();
    r.row(s.orders.table.data, row * ORDER_WORDS, ORDER_WORDS);
  });
}

function writeSessions(w: ByteWriter, s: VenueState): void {
  const sessions = [...s.sessions.byNumber.values()].sort((a, b) => a.number - b.number);
  w.number(sessions.length);
  for (const session of sessions) {
    const { nonces } = session;
    w.numbers([
      session.number,
      session.account,
      session.expiresAtMs,
      session.maxOrderNotionalMicros,
      session.maxNotionalMicros,
    ]);
    w.text(session.key);
    w.text(session.tokenHash);
    w.numbers(session.markets === null ? [] : [...session.markets].sort((a, b) => a - b));
    w.number(nonces.count);
    for (let i = 0; i < nonces.count; i++) {
      w.number(nonces.nonceAt(i));
      w.number(nonces.orderAt(i));
    }
  }
  const used = [...s.sessions.usedNonces].sort(([a], [b]) => (a < b ? -1 : 1));
  w.number(used.length);
  for (const [key, untilMs] of used) {
    w.text(key);
    w.number(untilMs);
  }
}

function readSessions(r: ByteReader, s: VenueState): void {
  r.repeat(() => {
    const [number, account, expiresAtMs, maxOrderNotional, maxNotional] = r.numbers();
    const key = r.text();
    const tokenHash = r.text();
    const markets = r.numbers();
    const nonces = new NonceWindow();
    r.repeat(() => {
      const nonce = r.number();
      nonces.remember(nonce, r.number());
    });
    s.sessions.open({
      number: number!,
      account: account!,
      key,
      tokenHash,
      expiresAtMs: expiresAtMs!,
      maxOrderNotionalMicros: maxOrderNotional!,
      maxNotionalMicros: maxNotional!,
      markets: markets.length === 0 ? null : new Set(markets),
      nonces,
    });
  });
  r.repeat(() => {
    const key = r.text();
    s.sessions.useNonce(key, r.number());
  });
}

const STATUSES: readonly DepositStatus[] = ["queued", "confirming", "credited", "rejected"];
const VERDICTS: readonly Vote["verdict"][] = ["confirming", "credit", "reject"];

function writeDeposits(w: ByteWriter, s: VenueState): void {
  const deposits = [...s.deposits.byId.values()].sort((a, b) => a.id - b.id);
  w.number(deposits.length);
  for (const deposit of deposits) {
    w.numbers([
      deposit.id,
      deposit.registrant,
      deposit.registeredAtMs,
      STATUSES.indexOf(deposit.status),
      deposit.confirmations,
      deposit.required,
    ]);
    w.texts([deposit.chain, deposit.txHash, deposit.token, deposit.reason]);
    w.numbers(deposit.credits.flatMap((c) => [c.account, c.amountMicros, c.logIndex]));
    const votes = [...deposit.votes].sort(([a], [b]) => a - b);
    w.number(votes.length);
    for (const [attestor, vote] of votes) {
      w.numbers([attestor, VERDICTS.indexOf(vote.verdict), vote.confirmations, vote.required]);
      w.text(vote.reason);
      w.texts(vote.credits.map((c) => c.address));
      w.numbers(vote.credits.flatMap((c) => [c.amountMicros, c.logIndex]));
    }
  }
}

function readDeposits(r: ByteReader, s: VenueState): void {
  r.repeat(() => {
    const [id, registrant, registeredAtMs, status, confirmations, required] = r.numbers();
    const [chain, txHash, token, reason] = r.texts();
    const credits = r.numbers();
    const votes = new Map<number, Vote>();
    r.repeat(() => {
      const [attestor, verdict, seen, needed] = r.numbers();
      const why = r.text();
      const addresses = r.texts();
      const figures = r.numbers();
      votes.set(attestor!, {
        verdict: VERDICTS[verdict!]!,
        confirmations: seen!,
        required: needed!,
        reason: why,
        credits: addresses.map((address, i) => ({
          address,
          amountMicros: figures[2 * i]!,
          logIndex: figures[2 * i + 1]!,
        })),
      });
    });
    const deposit: Deposit = {
      id: id!,
      registrant: registrant!,
      registeredAtMs: registeredAtMs!,
      chain: chain!,
      txHash: txHash!,
      token: token!,
      status: STATUSES[status!]!,
      confirmations: confirmations!,
      required: required!,
      reason: reason!,
      credits: Array.from({ length: credits.length / 3 }, (_, i) => ({
        account: credits[3 * i]!,
        amountMicros: credits[3 * i + 1]!,
        logIndex: credits[3 * i + 2]!,
      })),
      votes,
    };
    const isDev = s.config?.attestorKind === "dev";
    s.deposits.add(
      depositKey(isDev ? deposit.registrant : 0, deposit.chain, deposit.txHash),
      deposit,
    );
    if (isDev && deposit.status === "queued") {
      s.deposits.devDue.push(deposit.registeredAtMs + DEV_CREDIT_DELAY_MS, deposit.id);
    }
  });
}
