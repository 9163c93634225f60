/**
 * Deposits and votes with restarts in between: an engine that is restored again and again from its
 * own snapshot says and is, after every command, the same as one that runs on.
 * PERPGATE_DEPOSIT_SEEDS=n sets the number of flows.
 */

import { Random } from "@perpgate/protocol/random";
import { describe, expect, test } from "vitest";
import { audit } from "../../audit.js";
import { Engine } from "../../engine.js";
import { REFUSALS } from "../../reasons.js";
import { type DepositFlow, depositCommands } from "../flow/deposit-flow.js";

const SEEDS = Number(process.env.PERPGATE_DEPOSIT_SEEDS ?? 20);
const COUNT = 200;

/** Runs one flow; returns adds what it saw to `seen`. */
function run(flow: DepositFlow, seed: number, seen: Set<string>): void {
  const random = new Random(seed, `deposits ${flow}`);
  const restarts = new Random(seed, "restarts");
  const live = new Engine();
  let restored = new Engine();
  for (const command of depositCommands(flow, random, COUNT, live)) {
    const where = `${flow}:${seed} position ${live.seq + 1} ${JSON.stringify(command)}`;
    const wasRejected = isRejected(live, command);
    const expected = live.apply(command);
    const actual = restored.apply(command);
    if (Buffer.compare(actual.bytes(), expected.bytes()) !== 0) {
      expect(actual.decode(), where).toEqual(expected.decode());
    }
    const bytes = live.snapshot();
    expect(Buffer.compare(restored.snapshot(), bytes), `${where}: state`).toBe(0);
    for (const event of expected.decode()) {
      seen.add(event.kind === "CommandRefused" ? `refused ${REFUSALS[event.refusal]}` : event.kind);
      if (event.kind === "DepositSettled") seen.add(`settled ${event.credited}`);
      if (event.kind === "DepositRegistered" && wasRejected && !isRejected(live, command)) {
        seen.add("opened again");
      }
    }
    if (restarts.chance(0.1)) restored = Engine.restore(bytes);
  }
  expect(audit(live), `${flow}:${seed}`).toEqual([]);
}

/** Whether the deposit that a registration names is rejected. */
function isRejected({ state }: Engine, command: { kind: string; txHash?: string }): boolean {
  if (command.kind !== "RegisterDeposit") return false;
  for (const deposit of state.deposits.byId.values()) {
    if (deposit.txHash === command.txHash && deposit.status === "rejected") return true;
  }
  return false;
}

describe(`${SEEDS} flows of ${COUNT} commands around deposits, restored at random`, () => {
  const EVERYWHERE = ["DepositRegistered", "DepositCredited", "settled 0", "settled 1", "Traded"];
  const WANTED: Record<DepositFlow, readonly string[]> = {
    dev: [...EVERYWHERE, "opened again", "refused deposit_kind_mismatch"],
    chain: [
      ...EVERYWHERE,
      "opened again",
      "DepositProgressed",
      "DepositReorged",
      "DepositPartCredited",
      "DepositReopened",
      "DepositReorgSettled",
      "DepositsPaused",
      "refused deposits_paused",
      "refused deposit_not_rejected",
      "refused deposit_not_reorged",
      "refused invalid_command",
      "AccountOpened",
      "VenueConfigured",
      "refused vote_outdated",
      "refused attestor_unknown",
      "refused deposit_settled",
    ],
  };
  for (const flow of ["dev", "chain"] as const) {
    test(`${flow}: same events and same state after every command`, {
      timeout: 30_000 + SEEDS * 1_000,
    }, () => {
      const seen = new Set<string>();
      for (let seed = 1; seed <= SEEDS; seed++) run(flow, seed, seen);
      expect([...seen]).toEqual(expect.arrayContaining([...WANTED[flow]]));
    });
  }
});
