/**
 * Versions of the rules. A version 3 that exists in these tests only charges twice the liquidation
 * fee: a log with the upgrade in its middle must replay alike from its start, from a snapshot before
 * the upgrade and from one after it, and agree with the model.
 */
import { describe, expect, test } from "vitest";
import type { Command } from "../../commands.js";
import { Engine } from "../../engine.js";
import { SnapshotUnreadable } from "../../snapshot/snapshot.js";
import { ENGINE_VERSION, RULE_SETS, UnknownToRelease } from "../../versions.js";
import { commands } from "../flow/flow.js";
import { VERSION_2 } from "../reference/state.js";
import { ReferenceVenue } from "../reference/venue.js";
import { replayed, sha256 } from "../replay/recording.js";
import { BTC, venueConfig } from "../scenarios/listing.js";

const SEED = 7;
const BEFORE = 3_000;
const AFTER = 3_000;
const VERSION_3 = { version: 3, liquidationFeePpm: 10_000 };
const KNOWN = [...RULE_SETS, VERSION_3];
const MODEL = new Map([
  [2, VERSION_2],
  [3, { liquidationFeePpm: 10_000n }],
]);

/** A flow with crashes, upgraded in its middle; each command with the model's events. */
function upgradedFlow(): { list: Command[]; expected: string[] } {
  const model = new ReferenceVenue(1_000, MODEL);
  const list: Command[] = [];
  const expected: string[] = [];
  const add = (command: Command) => {
    list.push(command);
    expected.push(JSON.stringify(model.apply(command)));
  };
  for (const command of commands("cascade", SEED, BEFORE + AFTER, model)) {
    if (list.length === BEFORE) {
      add({
        kind: "Upgrade",
        stampMs: model.state.time,
        expiresAtMs: model.state.time + 60_000,
        version: 2,
      });
      add({
        kind: "Upgrade",
        stampMs: model.state.time,
        expiresAtMs: model.state.time + 60_000,
        version: 3,
      });
      add({
        kind: "Upgrade",
        stampMs: model.state.time,
        expiresAtMs: model.state.time + 60_000,
        version: 3,
      });
    }
    add(command);
  }
  return { list, expected };
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
  const { list, expected } = upgradedFlow();
  const UPGRADE_AT = BEFORE + 1;

  test("agrees with the model under both versions, and the rule that changed is reached", () => {
    const engine = Engine.knowing(KNOWN);
    list.forEach((command, i) => {
      const actual = JSON.stringify(engine.apply(command).decode());
      expect(actual, `position ${i + 1} ${JSON.stringify(command)}`).toBe(expected[i]);
    });
    expect(feesOf(expected.slice(0, UPGRADE_AT))).toBeGreaterThan(3);
    expect(feesOf(expected.slice(UPGRADE_AT))).toBeGreaterThan(3);
    expect(engine.state.rules.version).toBe(3);
  });

  test("replays alike from the start, from a snapshot before it and from one after it", () => {
    const [whole, events] = replayed(list, Engine.knowing(KNOWN));
    const hash = whole.stateHash(sha256);
    expect(replayed(list, Engine.knowing(KNOWN))[1]).toBe(events);
    for (const at of [UPGRADE_AT - 400, UPGRADE_AT, UPGRADE_AT + 1, UPGRADE_AT + 400]) {
      const [first] = replayed(list.slice(0, at), Engine.knowing(KNOWN));
      const restored = Engine.restore(first.snapshot(), KNOWN);
      expect(restored.state.rules.version, `snapshot at ${at}`).toBe(at > UPGRADE_AT ? 3 : 2);
      const [, tail] = replayed(list.slice(at), first);
      const [rest, restoredTail] = replayed(list.slice(at), restored);
      expect(restoredTail, `events after ${at}`).toBe(tail);
      expect(rest.stateHash(sha256), `state after a restore at ${at}`).toBe(hash);
    }
  });

  test("without the upgrade the same orders end otherwise: the version is what changed the rule", () => {
    const without = list.filter(({ kind }) => kind !== "Upgrade");
    const [plain] = replayed(without);
    const [upgraded] = replayed(list, Engine.knowing(KNOWN));
    expect(plain.state.totals.fund).not.toBe(upgraded.state.totals.fund);
  });

  test("a release without version 3: stops at the upgrade, naming both versions", () => {
    const engine = new Engine();
    for (const command of list.slice(0, UPGRADE_AT)) engine.apply(command);
    expect(() => engine.apply(list[UPGRADE_AT]!)).toThrow(UnknownToRelease);
    expect(() => engine.apply(list[UPGRADE_AT]!)).toThrow(/needs engine version 3.*knows .* 2/);
  });

  test("its snapshot in such a release: refused with both versions, not passed over", () => {
    const [upgraded] = replayed(list, Engine.knowing(KNOWN));
    const restore = () => Engine.restore(upgraded.snapshot());
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
      /release 0\.1, engine version 1, and this release knows engine version 2/,
    );
  });

  test("a Genesis of a later release: stops, naming both", () => {
    const later = { ...genesis, engineVersion: ENGINE_VERSION + 1 };
    expect(() => new Engine().apply(later)).toThrow(/needs engine version 3.*version 2/);
  });

  test("a command of unknown kind: stops, naming kind and version, and is never ignored", () => {
    const engine = new Engine();
    engine.apply({ ...genesis, engineVersion: ENGINE_VERSION });
    const unknown: Command = JSON.parse('{"kind":"Teleport","stampMs":5}');
    expect(() => engine.apply(unknown)).toThrow(/kind Teleport.*engine version 2/);
  });
});
