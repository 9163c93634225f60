/**
 * The ledger over seeded flows: after every command, the amounts of every account add up to its balance
 * in the engine, and each entry's balance is the sum so far.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command, Engine, EventLog } from "@perpgate/engine";
import {
  addressOf,
  applyBatch,
  batches,
  creditVote,
  depositCommands,
  genesis,
  joining,
  type LogBatch,
  openSession,
  type ProfileName,
  ReferenceVenue,
  withdrawalVote,
  writerId,
} from "@perpgate/engine/testing";
import { Random } from "@perpgate/protocol/random";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DEFAULT_PARAMETERS, venueConfigOf } from "../listing/venue-config.js";
import { NO_EVIDENCE } from "../record/record.js";
import { newReplicaState, observe, type ReplicaState } from "../recovery/replica-state.js";
import { START_MS, TEST_MARKETS } from "../testing/test-venue.js";
import { bookedBalance } from "../views/account-view.js";
import { openHistoryStore } from "./history-store.js";
import { NO_MARKET } from "./keys.js";
import { LEDGER } from "./ledger-projection.js";
import type { LedgerItem } from "./ledger-reader.js";
import { WrittenHistory } from "./written-history.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perpgate-ledger-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function openHistory(rows: ReplicaState["rows"]): Promise<WrittenHistory> {
  const { store } = await openHistoryStore(join(folder, "store"), new Uint8Array(16));
  return WrittenHistory.open(store, rows, {
    onDurable: () => undefined,
    onFailure: (error) => {
      throw error;
    },
  });
}

/** Each account's balances after the commands that changed it. */
type Balances = Map<number, { readonly seq: number; readonly balance: number }[]>;

async function run(name: ProfileName | "deposits" | "withdrawals", seed: number, count: number) {
  const state = newReplicaState();
  const { engine } = state;
  const history = await openHistory(state.rows);
  const balances: Balances = new Map();
  const reference = new ReferenceVenue(1_000);
  const note = (command: Command, events: EventLog): void => {
    const { seq } = engine;
    const { timeMs } = engine.state;
    const applied = { seq, timeMs, command, evidence: NO_EVIDENCE, events };
    for (const { kind } of events.decode()) EVENTS.add(kind);
    history.onCommand(applied, state.blocks.currentNumber, observe(state, applied));
    for (let account = 1; account < engine.state.addresses.length; account++) {
      const own = balances.get(account) ?? [];
      balances.set(account, own);
      const balance = bookedBalance(engine.state, account);
      if (balance !== (own.at(-1)?.balance ?? 0)) own.push({ seq, balance });
    }
  };
  if (name === "withdrawals") {
    for (const command of withdrawals(engine)) note(command, engine.apply(command));
  } else if (name === "deposits") {
    for (const command of depositCommands("dev", new Random(seed, name), count, engine)) {
      note(command, engine.apply(command));
    }
  } else {
    for (const batch of batches(name, seed, count, reference)) {
      applyBatch(reference, batch);
      applyBatch(engine, batch, note);
    }
  }
  if (name === "controls") {
    for (const batch of settlements(engine)) expect(applyBatch(engine, batch, note)).toBeNull();
  }
  return { engine, history, balances };
}

/** Two withdrawals, of which one is paid and one expires. */
function* withdrawals(engine: Engine): Generator<Command> {
  const attestation = { attestorKind: "chain", attestors: 1, attestorQuorum: 1 } as const;
  const chain = { chain: "ethereum", chainId: 1, tokens: ["USDC"], maxUnpaid: 1_000 };
  const bounds = { accountPerDay: 1_000, venuePerHour: 1_000, venuePerDay: 1_000 };
  const config = venueConfigOf(TEST_MARKETS, {
    ...DEFAULT_PARAMETERS,
    ...attestation,
    devCredit: 0,
    withdrawals: { minWithdrawal: 1, fee: 0.5, ...bounds, lifeSeconds: 3_600, chains: [chain] },
  });
  yield genesis(START_MS, config);
  const address = addressOf(1);
  const session = engine.seq + 1;
  yield openSession({ stampMs: START_MS, address });
  const [token, depositId] = ["USDC", engine.seq + 1];
  const from = { stampMs: START_MS, session, chain: "ethereum", token };
  yield { kind: "RegisterDeposit", ...from, txHash: "ab".repeat(32) };
  const credits = [{ address, amountMicros: 300e6, logIndex: 0 }];
  yield creditVote({ stampMs: START_MS, depositId, credits });
  const first = engine.seq + 1;
  for (const nonce of [1, 2]) {
    yield { kind: "Withdraw", ...from, key: "key", nonce, amountMicros: nonce * 50e6 };
  }
  yield withdrawalVote({ stampMs: START_MS, withdrawalId: first, verdict: "paid" });
  for (let second = 1; second <= 3_601; second++) {
    yield { kind: "Tick", slot: START_MS / 200 + 5 * second };
  }
  const stampMs = engine.state.timeMs;
  yield withdrawalVote({ stampMs, withdrawalId: first + 1, verdict: "unpaid" });
}

/** Settles every market that is not settled yet, each a tick below its mark. A core leads if one has. */
function* settlements({ state }: Engine): Generator<LogBatch> {
  const writer = writerId(1);
  const isLed = state.writers.epoch > 0;
  let counter = isLed ? state.writers.epoch + 1 : 0;
  const batch = (command: Command): LogBatch => ({
    writer,
    counter: isLed ? counter : counter++,
    commands: [command],
  });
  const tick = (): LogBatch => batch({ kind: "Tick", slot: state.lastTickMs / 200 + 1 });
  const join = joining(writer, "settler", state.timeMs);
  const { name: core, stampMs, versions, receiptKey, certificate } = join;
  const claim = { stampMs, epoch: counter, run: writer, core, versions, receiptKey, certificate };
  yield batch(isLed ? { kind: "CoreLeads", ...claim } : join);
  // A minute in which no operator commands came.
  for (let i = 0; i < 310; i++) yield tick();
  for (const { number: market, mark } of [...state.markets]) {
    const stampMs = state.timeMs;
    const priceTicks = Math.max(1, mark - 1);
    const expiresAtMs = stampMs + 1_000;
    const what = { market, action: "settle", priceTicks } as const;
    yield batch({ kind: "ControlMarket", stampMs, expiresAtMs, ...what });
  }
  for (let i = 0; i < 50; i++) yield tick();
}

/** The balances that the entries lead to, after the commands that changed them. */
function balancesOf(items: readonly LedgerItem[]) {
  const found: { seq: number; balance: number }[] = [];
  let sum = 0;
  let before = 0;
  items.forEach((item, i) => {
    sum += item.amount;
    expect(item.balance, `entry ${item.seq}-${item.ordinal}`).toBe(sum);
    if (items[i + 1]?.seq === item.seq) return;
    if (sum !== before) found.push({ seq: item.seq, balance: sum });
    before = sum;
  });
  return found;
}

const SEEN = new Set<number>();
const EVENTS = new Set<string>();

test.each([
  ["cascade", 21, 3_000],
  ["thinFund", 22, 3_000],
  ["dust", 23, 2_000],
  ["controls", 24, 4_000],
  ["herd", 25, 2_000],
  ["deposits", 26, 1_000],
  ["withdrawals", 27, 3_609],
] as const)("flow %s, seed %i, %i commands: amounts add up", async (name, seed, count) => {
  const { engine, history, balances } = await run(name, seed, count);
  const markets = [...engine.state.markets.map(({ number }) => number), NO_MARKET];
  for (const [account, expected] of balances) {
    const start = { seq: 0, ordinal: 0 };
    const items = history.ledger(account, markets, { limit: 1_000_000, after: start });
    expect(balancesOf(items)).toEqual(expected);
    for (const { kind } of items) SEEN.add(kind);
    // Pages in both directions give the same entries.
    const forth: LedgerItem[] = [];
    for (let page = items.slice(0, 0); ; forth.push(...page)) {
      page = history.ledger(account, markets, { limit: 5, after: forth.at(-1) ?? start });
      if (page.length === 0) break;
    }
    expect(forth).toEqual(items);
    const back: LedgerItem[] = [];
    for (let page = items.slice(0, 0); ; back.push(...page)) {
      page = history.ledger(account, markets, { limit: 7, before: back.at(-1) });
      if (page.length === 0) break;
    }
    expect(back.reverse()).toEqual(items);
  }
  await history.close();
});

test("the flows reach every kind of entry, and every kind of change of an order", () => {
  expect([...SEEN].sort()).toEqual(Object.values(LEDGER).sort());
  expect([...EVENTS]).toEqual(
    expect.arrayContaining(["OrderAmended", "MarginChanged", "OrderExtended", "StopTriggered"]),
  );
});
