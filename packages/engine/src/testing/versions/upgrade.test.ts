/**
 * Versions of the rules. A log with the upgrade from version 2 to 3 in its middle must replay alike from
 * its start, from a snapshot before the upgrade and from one after it, and agree with the model.
 */
import { describe, expect, test } from "vitest";
import type { Command } from "../../commands.js";
import { Engine } from "../../engine.js";
import { SnapshotUnreadable } from "../../snapshot/snapshot.js";
import { ENGINE_VERSION, RULE_SETS, UnknownToRelease } from "../../versions.js";
import { batches } from "../flow/flow.js";
import { applyBatch, type LogBatch } from "../flow/log-batch.js";
import { ReferenceVenue } from "../reference/venue.js";
import { replayed, sha256 } from "../replay/recording.js";
import { BTC, venueConfig } from "../scenarios/listing.js";

const SEED = 7;
const BEFORE = 3_000;
const AFTER = 3_000;
/** What release 0.2 knows. */
const OLD = RULE_SETS.slice(0, 1);

/** A flow with crashes, upgraded in its middle, by the batch `at`; with the model's events. */
function upgradedFlow(): { list: LogBatch[]; expected: string[]; at: number } {
  const model = new ReferenceVenue(1_000);
  const list: LogBatch[] = [];
  const expected: string[] = [];
  let at = -1;
  for (const sent of batches("cascade", SEED, BEFORE + AFTER, model, [2, 3])) {
    let batch = sent;
    const isNext = model.state.writers.some(
      ({ id, counter }) => id === sent.writer && counter + 1 === sent.counter,
    );
    if (at < 0 && model.state.position >= BEFORE && isNext) {
      at = list.length;
      batch = { ...sent, commands: [...upgrades(model.state.time), ...sent.commands] };
    }
    list.push(batch);
    applyBatch(model, batch, (_command, events) => expected.push(JSON.stringify(events)));
  }
  return { list, expected, at };
}

/** To the version in force, to the next, and to that once more. */
function upgrades(stampMs: number): Command[] {
  return [2, 3, 3].map((version) => {
    return { kind: "Upgrade", stampMs, expiresAtMs: stampMs + 60_000, version };
  });
}

function feesOf(events: readonly string[]): number {
  let fees = 0;
  for (const text of events) {
    for (const [, fee] of text.matchAll(/"kind":"Liquidated".*?"feeMicros":(\d+)/g)) {
      if (Number(fee) > 0) fees++;
    }
  }
  return fees;
}

describe("a log with an upgrade in its middle", () => {
  const { list, expected, at: upgradeAt } = upgradedFlow();

  test("agrees with the model under both versions, and the rule that changed is reached", () => {
    const engine = new Engine();
    let upgradedAt = 0;
    for (const batch of list) {
      applyBatch(engine, batch, (command, events) => {
        const where = `position ${engine.seq} ${JSON.stringify(command)}`;
        expect(JSON.stringify(events.decode()), where).toBe(expected[engine.seq - 1]);
        if (upgradedAt === 0 && engine.state.rules.version === 3) upgradedAt = engine.seq;
      });
    }
    expect(feesOf(expected.slice(0, upgradedAt))).toBeGreaterThan(3);
    expect(feesOf(expected.slice(upgradedAt))).toBeGreaterThan(3);
    expect(engine.state.rules.version).toBe(3);
  });

  test("replays alike from the start, from a snapshot before it and from one after it", () => {
    const [whole, events] = replayed(list);
    const hash = whole.stateHash(sha256);
    expect(replayed(list)[1]).toBe(events);
    for (const at of [upgradeAt - 400, upgradeAt, upgradeAt + 1, upgradeAt + 400]) {
      const [first] = replayed(list.slice(0, at));
      const restored = Engine.restore(first.snapshot());
      expect(restored.state.rules.version, `snapshot at ${at}`).toBe(at > upgradeAt ? 3 : 2);
      const [, tail] = replayed(list.slice(at), first);
      const [rest, restoredTail] = replayed(list.slice(at), restored);
      expect(restoredTail, `events after ${at}`).toBe(tail);
      expect(rest.stateHash(sha256), `state after a restore at ${at}`).toBe(hash);
    }
  });

  test("without the upgrade the same orders end otherwise: the version is what changed the rule", () => {
    const without = list.map((batch) => {
      return { ...batch, commands: batch.commands.filter(({ kind }) => kind !== "Upgrade") };
    });
    const [plain] = replayed(without);
    const [upgraded] = replayed(list);
    expect(plain.state.totals.fund).not.toBe(upgraded.state.totals.fund);
  });

  test("a release without version 3: stops at the upgrade, naming both versions", () => {
    const [engine] = replayed(list.slice(0, upgradeAt), Engine.knowing(OLD));
    const { writer, counter, commands } = list[upgradeAt]!;
    expect(engine.acceptBatch(writer, counter, commands)).toBeNull();
    engine.apply(commands[0]!);
    expect(() => engine.apply(commands[1]!)).toThrow(UnknownToRelease);
    expect(() => engine.apply(commands[1]!)).toThrow(/needs engine version 3.*knows .* 2/);
  });

  test("its snapshot in such a release: refused with both versions, not passed over", () => {
    const [upgraded] = replayed(list);
    const restore = () => Engine.restore(upgraded.snapshot(), OLD);
    expect(restore).toThrow(UnknownToRelease);
    expect(restore).not.toThrow(SnapshotUnreadable);
    expect(restore).toThrow(/needs engine version 3.*knows .* 2/);
  });
});

describe("what a release does not know", () => {
  const genesis = {
    kind: "Genesis",
    stampMs: 1,
    config: venueConfig([BTC]),
    cohort: "open",
  } as const;

  test("a Genesis of release 0.1, which has no version: stops, naming both", () => {
    const old: Command = JSON.parse(JSON.stringify(genesis));
    expect(() => new Engine().apply(old)).toThrow(
      /release 0\.1, engine version 1, and this release knows engine versions 2, 3/,
    );
  });

  test("a Genesis of a later release: stops, naming both", () => {
    const later = { ...genesis, engineVersion: ENGINE_VERSION + 1 };
    expect(() => new Engine().apply(later)).toThrow(/needs engine version 4.*versions 2, 3/);
  });

  test("a command of unknown kind: stops, naming kind and version, and is never ignored", () => {
    const engine = new Engine();
    engine.apply({ ...genesis, engineVersion: ENGINE_VERSION });
    const unknown: Command = JSON.parse('{"kind":"Teleport","stampMs":5}');
    expect(() => engine.apply(unknown)).toThrow(/kind Teleport.*engine versions 2, 3/);
  });
});
