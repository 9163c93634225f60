/**
 * Records a version of the rules: a flow of each profile and a log of withdrawals, with the hashes of their
 * events and states. Version 3 may change until it is released; a change of it records it again:
 *
 *   RECORD_VERSION=3 npx vitest run --project=fast packages/engine/src/testing/replay/recorded.test.ts
 *
 * A version that was released is never recorded again: its file says what its logs mean.
 */

import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { Random } from "@perpgate/protocol/random";
import { type AttestWithdrawal, type Command, GENESIS_WRITER } from "../../commands.js";
import { MAX_LEAD_MS, TICK_MS } from "../../config.js";
import { Engine } from "../../engine.js";
import type { VenueEvent } from "../../events/event-table.js";
import { creditVote, genesis, openSession, withdrawalVote } from "../commands.js";
import { FIRST_SEED } from "../flow/flow.js";
import { applyBatch, type LogBatch } from "../flow/log-batch.js";
import { PROFILES, type ProfileName } from "../flow/profiles.js";
import { BTC, MICROS, venueConfig } from "../scenarios/listing.js";
import { joining, writerId } from "../sole-writer.js";
import { recording, replayed, sha256 } from "./recording.js";

export interface Recorded {
  readonly profile: string;
  readonly batches: readonly LogBatch[];
  /** SHA-256 of the bytes of all events, and of the state at the end. */
  readonly events: string;
  readonly state: string;
}

const COMMANDS = 800;
const START_MS = 1_750_000_000_123;
/** As far as a tick may be ahead of the last one. */
const LEAD_SLOTS = MAX_LEAD_MS / TICK_MS;
const ACCOUNTS = [1, 2, 3, 4];
const EARLY = ["signed", "signed", "pending", "paid", "unpaid"] as const;
const LATE = ["unpaid", "unpaid", "paid"] as const;
const CHAIN = { chain: "ethereum", token: "USDC" };

export function record(file: URL): void {
  const flows = (Object.keys(PROFILES) as ProfileName[]).map((profile) =>
    recordedOf(profile, recording(profile, FIRST_SEED, COMMANDS)),
  );
  const logs = [...flows, recordedOf("withdrawals", withdrawals())];
  writeFileSync(file, gzipSync(JSON.stringify(logs), { level: 9 }));
}

export function hashesOf(batches: readonly LogBatch[]): Pick<Recorded, "events" | "state"> {
  const [engine, events] = replayed(batches);
  return { events, state: engine.stateHash(sha256) };
}

/** Of what is read again from the file: JSON leaves out what is undefined. */
function recordedOf(profile: string, list: readonly LogBatch[]): Recorded {
  const batches: LogBatch[] = JSON.parse(JSON.stringify(list));
  return { profile, batches, ...hashesOf(batches) };
}

/** Deposits, withdrawals that are signed, paid, left unpaid and refused, and the ticks between them. */
function withdrawals(): LogBatch[] {
  const random = new Random(FIRST_SEED, "recorded withdrawals");
  const engine = new Engine();
  const list: LogBatch[] = [];
  const writer = writerId(1);
  const sessions = new Map<number, number>();
  const asked: { readonly id: number; readonly atMs: number }[] = [];
  const send = (batch: LogBatch): readonly VenueEvent[] => {
    list.push(batch);
    let events: readonly VenueEvent[] = [];
    const dropped = applyBatch(engine, batch, (_, log) => {
      events = log.decode();
    });
    if (dropped !== null) throw new Error(`a batch was dropped: ${dropped}`);
    return events;
  };
  const apply = (command: Command) =>
    send({ writer, counter: list.length - 1, commands: [command] });
  const stamp = () => ({ stampMs: engine.state.timeMs });
  const terms = {
    minMicros: 5 * MICROS,
    feeMicros: 300_000,
    accountDayMicros: 2_000 * MICROS,
    venueHourMicros: 5_000 * MICROS,
    venueDayMicros: 6_000 * MICROS,
    lifeMs: 3_600_000,
    chains: [{ chain: "ethereum", chainId: 1, tokens: ["USDC"], maxUnpaidMicros: 1_500 * MICROS }],
  };
  const attested = { attestors: 3, attestorQuorum: 2 };
  const begin = genesis(START_MS, venueConfig([BTC], { ...attested, withdrawals: terms }));
  send({ writer: GENESIS_WRITER, counter: 0, commands: [begin] });
  apply(joining(writer, "gateway", START_MS));
  const addressOf = (account: number) => account.toString(16).padStart(40, "0");
  for (const account of ACCOUNTS) {
    sessions.set(account, engine.seq + 1);
    const fresh = { tokenHash: random.hex(64), siweNonce: random.hex(16) };
    apply(openSession({ ...stamp(), address: addressOf(account), ...fresh }));
  }
  const senderOf = (account: number) => ({ ...stamp(), session: sessions.get(account) ?? 0 });
  const tick = () => apply({ kind: "Tick", slot: engine.state.lastTickMs / TICK_MS + LEAD_SLOTS });
  for (let step = 1; step <= COMMANDS; step++) {
    // A deadline is an hour away.
    for (let i = 0; step % 100 === 0 && i < 1_800_000 / MAX_LEAD_MS; i++) tick();
    const account = random.pick(ACCOUNTS);
    const kind = random.weighted({ tick: 3, deposit: 2, withdraw: 3, vote: 8 });
    if (kind === "tick") {
      tick();
    } else if (kind === "deposit") {
      const depositId = engine.seq + 1;
      const txHash = step.toString(16).padStart(64, "0");
      apply({ kind: "RegisterDeposit", ...senderOf(account), ...CHAIN, txHash });
      const amountMicros = random.int(1, 900 * MICROS);
      const credits = [{ address: addressOf(account), amountMicros, logIndex: 0 }];
      for (const attestor of [0, 1]) {
        apply(creditVote({ ...stamp(), attestor, depositId, credits, votedAtMs: engine.seq }));
      }
    } else if (kind === "withdraw") {
      const [id, at] = [engine.seq + 1, { atMs: engine.state.timeMs }];
      const amountMicros = random.int(1, 400 * MICROS);
      const events = apply({
        kind: "Withdraw",
        ...senderOf(account),
        ...CHAIN,
        key: "key",
        nonce: step + 1,
        amountMicros,
      });
      if (events.some((event) => event.kind === "WithdrawalRequested")) asked.push({ id, ...at });
    } else if (asked.length > 0) {
      const { id: withdrawalId, atMs } = random.pick(asked);
      const isLate = engine.state.timeMs > atMs + terms.lifeMs;
      const verdict = random.pick<AttestWithdrawal["verdict"]>(isLate ? LATE : EARLY);
      const named = verdict === "pending" || verdict === "paid" ? { txHash: "aa".repeat(32) } : {};
      const said = { ...stamp(), withdrawalId, verdict, attestor: random.int(0, 3), ...named };
      apply(withdrawalVote({ ...said, votedAtMs: engine.seq }));
    }
  }
  return list;
}
