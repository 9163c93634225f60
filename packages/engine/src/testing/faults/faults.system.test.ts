/**
 * A command that fails half way, at a random call of a random part: it must leave exactly what the
 * same command leaves in a venue where that market had been halted beforehand. Nothing else of it
 * may remain, the other markets trade on, replicas agree, and a snapshot continues the same way.
 *
 * PERPGATE_FAULTS=n sets how many faults a profile suffers.
 */
import { createHash } from "node:crypto";
import { Random } from "@perpgate/protocol/random";
import { describe, expect, test } from "vitest";
import { audit } from "../../audit.js";
import { type Command, FILL_OR_KILL } from "../../commands.js";
import { Engine } from "../../engine.js";
import type { EventLog } from "../../events/event-log.js";
import type { VenueEvent } from "../../events/event-table.js";
import { MARKET_HALTED } from "../../state/market.js";
import { applyBatch, type LogBatch } from "../flow/log-batch.js";
import type { ProfileName } from "../flow/profiles.js";
import { recording } from "../replay/recording.js";
import { countCalls, SABOTAGES, type Sabotage, strikeAt } from "./sabotage.js";

const SEED = 7;
const COMMANDS = 2_000;
const FAULTS = Number(process.env.PERPGATE_FAULTS ?? 45);
const TAIL = 60;
const PROFILES: readonly ProfileName[] = ["cascade", "thinFund", "stops", "whales"];

function hashOf(engine: Engine): string {
  return engine.stateHash((bytes) => createHash("sha256").update(bytes).digest("hex"));
}

/** The venue of a snapshot with one market halted, before its next command. */
function haltedIn(snapshot: Uint8Array, market: number): Engine {
  const engine = Engine.restore(snapshot);
  engine.state.undo.begin();
  engine.state.markets[market]!.status = MARKET_HALTED;
  return engine;
}

interface Fault {
  readonly where: string;
  readonly snapshot: Uint8Array;
  readonly command: Command;
  readonly sabotage: Sabotage;
  readonly k: number;
}

/** Applies the command with its fault; returns the engine and what it said. */
function suffer(fault: Fault): { engine: Engine; events: VenueEvent[] } {
  const engine = Engine.restore(fault.snapshot);
  let events: VenueEvent[] = [];
  strikeAt(fault.sabotage, fault.k, () => {
    events = engine.apply(fault.command).decode();
  });
  return { engine, events };
}

function check(fault: Fault, tail: readonly LogBatch[]): { halted: number; traded: number } {
  const { where } = fault;
  const first = suffer(fault);
  const second = suffer(fault);
  const halts = first.events.filter((event) => event.kind === "MarketHalted");
  expect(halts.length, `${where}: one market is halted`).toBe(1);
  const market = halts[0]!.market;

  const expected = haltedIn(fault.snapshot, market);
  const rest = expected.apply(fault.command).decode();
  expect(first.events, `${where}: events`).toEqual([halts[0], ...rest]);
  expect(hashOf(first.engine), `${where}: state`).toBe(hashOf(expected));
  expect(second.events, `${where}: two replicas`).toEqual(first.events);
  expect(hashOf(second.engine), `${where}: two replicas`).toBe(hashOf(first.engine));
  expect(audit(first.engine), where).toEqual([]);

  const restored = Engine.restore(first.engine.snapshot());
  let traded = 0;
  const step = (command: Command, log: EventLog): void => {
    const events = log.decode();
    const same = JSON.stringify(restored.apply(command).decode()) === JSON.stringify(events);
    expect(same, `${where}: tail, ${command.kind} at ${restored.seq}`).toBe(true);
    for (const event of events) {
      if (event.kind !== "Traded") continue;
      traded++;
      expect(event.market, `${where}: a halted market trades`).not.toBe(market);
    }
  };
  for (const batch of tail) {
    const dropped = restored.acceptBatch(batch.writer, batch.counter, batch.commands);
    expect(applyBatch(first.engine, batch, step), where).toBe(dropped);
  }
  expect(hashOf(restored), `${where}: tail`).toBe(hashOf(first.engine));
  expect(audit(first.engine), `${where}: tail`).toEqual([]);
  return { halted: market, traded };
}

describe("a fault half way through a command", () => {
  for (const profile of PROFILES) {
    test(`${profile}, seed ${SEED}, ${FAULTS} faults: the market halts, nothing else happened`, () => {
      const random = new Random(SEED, `faults ${profile}`);
      const list = recording(profile, SEED, COMMANDS);
      const live = new Engine();
      const struck = new Map<string, number>();
      let traded = 0;
      // Never in the first tenth: nothing happens yet.
      const every = Math.floor((list.length * 0.9) / FAULTS);
      let dueAt = list.length * 0.1;
      for (const [i, batch] of list.entries()) {
        const { commands } = batch;
        if (live.acceptBatch(batch.writer, batch.counter, commands) !== null) continue;
        const [command] = commands;
        // The next batch of one command.
        if (i > dueAt && command !== undefined && commands.length === 1) {
          dueAt += every;
          const snapshot = live.snapshot();
          const chosen = choose(random, snapshot, command);
          if (chosen !== null) {
            const { sabotage, k } = chosen;
            const what = `${command.kind}, ${sabotage.name}, call ${k}`;
            const where = `${profile}:${SEED} batch ${i + 1}: ${what}`;
            const tail = list.slice(i + 1, i + 1 + TAIL);
            traded += check({ where, snapshot, command, sabotage, k }, tail).traded;
            struck.set(sabotage.name, (struck.get(sabotage.name) ?? 0) + 1);
          }
        }
        for (const each of commands) live.apply(each);
      }
      console.log(`${profile}: ${[...struck].map(([name, n]) => `${n} × ${name}`).join(", ")}`);
      expect(struck.size).toBeGreaterThan(5);
      expect(traded).toBeGreaterThan(0);
    });
  }
});

/** If it is killed, what has changed silently until then is undone with it. */
function isFillOrKill(command: Command): boolean {
  return command.kind === "PlaceOrder" && command.extras?.timeInForce === FILL_OR_KILL;
}

/** A part that the command uses, and one of the calls it makes of it. */
function choose(
  random: Random,
  snapshot: Uint8Array,
  command: Command,
): { sabotage: Sabotage; k: number } | null {
  // Signing in changes only what has a name, after everything that could fail.
  if (command.kind === "OpenSession" || command.kind === "Genesis") return null;
  for (let tries = 0; tries < 5; tries++) {
    const sabotage = random.pick(SABOTAGES);
    if (sabotage.isSilent && isFillOrKill(command)) continue;
    const engine = Engine.restore(snapshot);
    const calls = countCalls(sabotage, () => void engine.apply(command));
    if (calls > 0) return { sabotage, k: random.int(1, calls) };
  }
  return null;
}
