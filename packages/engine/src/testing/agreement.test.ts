/**
 * The fast engine against the naive model, command by command and event by event, over seeded
 * flows. A difference prints profile, seed, position, the command and both event lists; rerun one
 * with PERPGATE_FLOW=profile:seed:count.
 */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { audit } from "../audit.js";
import { Engine } from "../engine.js";
import { commands, FIRST_SEED } from "./flow/flow.js";
import { PROFILES, type ProfileName } from "./flow/profiles.js";
import { ReferenceVenue } from "./reference/venue.js";

const NAMES = Object.keys(PROFILES) as ProfileName[];
const COMMANDS_PER_PROFILE = 12_000;
const LONG_RUN: ProfileName = "cascade";
const LONG_RUN_COMMANDS = 100_000;
/** Seeds to run; `npm run test:flows` sets more of them. */
const SEEDS = Number(process.env.PERPGATE_FLOW_SEEDS ?? 1);

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Runs both; at every `checkpoint` commands audits the engine and continues from its snapshot. */
function compare(name: ProfileName, seed: number, count: number, checkpoint: number): void {
  const reference = new ReferenceVenue(50);
  let engine = new Engine();
  let twin = new Engine();
  for (const command of commands(name, seed, count, reference)) {
    const expected = reference.apply(command);
    const actual = engine.apply(command).decode();
    const where = () => `${name}:${seed} position ${engine.seq} ${JSON.stringify(command)}`;
    if (JSON.stringify(actual) !== JSON.stringify(expected)) {
      expect(actual, where()).toEqual(expected);
    }
    twin.apply(command);
    if (engine.seq % checkpoint !== 0) continue;
    expect(audit(engine), where()).toEqual([]);
    const hash = engine.stateHash(sha256);
    expect(twin.stateHash(sha256), `${where()}: full run and snapshot + tail`).toBe(hash);
    engine = Engine.restore(engine.snapshot());
    expect(engine.stateHash(sha256), `${where()}: restored`).toBe(hash);
    [engine, twin] = [twin, engine];
  }
  expect(engine.stateHash(sha256)).toBe(twin.stateHash(sha256));
}

describe("the engine agrees with the naive model, event for event", () => {
  const asked = process.env.PERPGATE_FLOW;
  if (asked !== undefined) {
    const [name, seed, count] = asked.split(":");
    test(`flow ${asked}`, () => {
      const profile = NAMES.find((known) => known === name);
      if (profile === undefined) throw new Error(`no profile ${name}; there are ${NAMES}`);
      compare(profile, Number(seed), Number(count), 1_000);
    });
    return;
  }
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    for (const name of NAMES) {
      const count = name === LONG_RUN ? LONG_RUN_COMMANDS : COMMANDS_PER_PROFILE;
      test(`flow ${name}, seed ${seed}, ${count} commands`, { timeout: 600_000 }, () => {
        compare(name, seed, count, 1_000);
      });
    }
  }
});
