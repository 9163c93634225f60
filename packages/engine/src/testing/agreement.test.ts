/**
 * The fast engine against the naive model, command by command and event by event, over seeded
 * flows. A difference prints profile, seed, position, the command and both event lists; rerun one
 * with PERPGATE_FLOW=profile:seed:count. Together the flows must reach every rule.
 */
import { describe, expect, test } from "vitest";
import { audit } from "../audit.js";
import type { Command } from "../commands.js";
import { Engine } from "../engine.js";
import type { VenueEvent } from "../events/event-table.js";
import { ENGINE_VERSION } from "../versions.js";
import { Coverage } from "./flow/coverage.js";
import { batches, FIRST_SEED } from "./flow/flow.js";
import { applyBatch } from "./flow/log-batch.js";
import { PROFILES, type ProfileName } from "./flow/profiles.js";
import { RULES_TO_REACH } from "./flow/rules-to-reach.js";
import { ReferenceVenue } from "./reference/venue.js";
import { sha256 } from "./replay/recording.js";
import type { BatchTaker } from "./sole-writer.js";

const NAMES = Object.keys(PROFILES) as ProfileName[];
/** `npm test -- --long flows` runs all of them longer than those that reach a rule late. */
const USUAL = 1_500;
const COMMANDS = Number(process.env.PERPGATE_FLOW_EACH ?? USUAL);
/** After as many commands a flow has traded as often as it is meant to. */
const ENOUGH = 4_500;
type Counts = { readonly [Name in ProfileName]?: number };
/** Each reaches a rule that no other flow does so early. */
const LATE: Counts = { exits: ENOUGH, controls: ENOUGH, few: 10_000 };
/** Reaches what the first seed of its profile does not. */
const ANOTHER = { name: "controls", seed: FIRST_SEED + 1 } as const;
/** Under version 2, whose rules are frozen: flows that reach what version 3 does otherwise, or rarely. */
const FROZEN: readonly ProfileName[] = ["thinFund", "staleIndex", "stops", "herd", "walls"];
const LATE_FROZEN: Counts = { thinFund: ENOUGH, staleIndex: ENOUGH, herd: ENOUGH, walls: 9_000 };
/** The identity of money is tested after every this many commands. */
const IDENTITY_EVERY = 25;
const LONG_RUN: ProfileName = "cascade";
const LONG_RUN_COMMANDS = Number(process.env.PERPGATE_FLOW_COMMANDS ?? USUAL);
/** Seeds to run; `npm test -- --long flows` sets more of them. */
const SEEDS = Number(process.env.PERPGATE_FLOW_SEEDS ?? 1);

function countOf(name: ProfileName, late = LATE): number {
  if (name === LONG_RUN) return LONG_RUN_COMMANDS;
  if (COMMANDS < USUAL) return COMMANDS;
  return Math.max(late[name] ?? 0, COMMANDS);
}

/** Runs both; at every `checkpoint` commands audits the engine and continues from its snapshot. */
function compare(
  name: ProfileName,
  seed: number,
  count: number,
  checkpoint: number,
  version = ENGINE_VERSION,
): Coverage {
  const reference = new ReferenceVenue(IDENTITY_EVERY);
  const coverage = new Coverage();
  let engine = new Engine();
  let twin = new Engine();
  const step = (command: Command, expected: readonly VenueEvent[]): void => {
    const actual = engine.apply(command).decode();
    const where = () => `${name}:${seed} position ${engine.seq} ${JSON.stringify(command)}`;
    if (JSON.stringify(actual) !== JSON.stringify(expected)) {
      expect(actual, where()).toEqual(expected);
    }
    const { spent } = reference.state.work;
    if (engine.state.scratch.work.spent !== spent) {
      expect(engine.state.scratch.work.spent, `${where()}: work units`).toBe(spent);
    }
    coverage.observe(command, expected, reference.state);
    twin.apply(command);
    if (engine.seq % checkpoint !== 0) return;
    expect(audit(engine), where()).toEqual([]);
    const hash = engine.stateHash(sha256);
    expect(twin.stateHash(sha256), `${where()}: full run and snapshot + tail`).toBe(hash);
    engine = Engine.restore(engine.snapshot());
    expect(engine.stateHash(sha256), `${where()}: restored`).toBe(hash);
    [engine, twin] = [twin, engine];
  };
  for (const batch of batches(name, seed, count, reference, [version, version])) {
    const accepts = (replica: BatchTaker): string | null => {
      return replica.acceptBatch(batch.writer, batch.counter, batch.commands);
    };
    const dropped = [accepts(engine), accepts(twin), applyBatch(reference, batch, step)];
    if (new Set(dropped).size !== 1) {
      expect.fail(`${JSON.stringify(batch)}: ${dropped.join(", ")}`);
    }
    if (typeof dropped[0] === "string") coverage.add(`dropped ${dropped[0]}`);
  }
  expect(engine.stateHash(sha256)).toBe(twin.stateHash(sha256));
  // Trades are frequent, after a quiet beginning: a flow that is mostly refused exercises little.
  const leastTrades = count < ENOUGH ? 0 : count / 20;
  expect(coverage.count("event Traded")).toBeGreaterThan(leastTrades);
  return coverage;
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
  const total = new Coverage();
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    for (const name of NAMES) {
      const count = countOf(name);
      test(`flow ${name}, seed ${seed}, ${count} commands`, { timeout: 600_000 }, () => {
        total.merge(compare(name, seed, count, 1_000));
      });
    }
  }

  // Short ones cannot.
  if (COMMANDS < USUAL) return;
  const { name, seed } = ANOTHER;
  const count = countOf(name);
  test(`flow ${name}, seed ${seed}, ${count} commands`, { timeout: 600_000 }, () => {
    total.merge(compare(name, seed, count, 1_000));
  });
  for (const name of FROZEN) {
    const count = countOf(name, LATE_FROZEN);
    test(`flow ${name}, version 2, ${count} commands`, { timeout: 600_000 }, () => {
      total.merge(compare(name, FIRST_SEED, count, 1_000, 2));
    });
  }
  test("the flows reach every rule", () => {
    expect(RULES_TO_REACH.filter((key) => total.count(key) === 0)).toEqual([]);
  });
});
