/**
 * The same commands give the same bytes: of events, of state, on every engine, whole or from any
 * snapshot on. PERPGATE_REPLAY=n sets the number of commands.
 */

import { Random } from "@perpgate/protocol/random";
import { describe, expect, test } from "vitest";
import type { Command } from "../../commands.js";
import { Engine } from "../../engine.js";
import type { EventLog } from "../../events/event-log.js";
import { RULE_SETS } from "../../versions.js";
import { applyBatch } from "../flow/log-batch.js";
import { PROFILES, type ProfileName } from "../flow/profiles.js";
import { recording, replayed, sha256 } from "./recording.js";

const COUNT = Number(process.env.PERPGATE_REPLAY ?? 400);
const SEED = 11;

describe(`replay of ${COUNT} commands, seed ${SEED}`, () => {
  for (const profile of Object.keys(PROFILES) as ProfileName[]) {
    test(`${profile}: two engines with different seeds, and one from a snapshot at a random position`, () => {
      const list = recording(profile, SEED, COUNT);
      const [whole, events] = replayed(list);
      const [second, secondEvents] = replayed(list, Engine.seeded([7, 11]));
      expect(secondEvents).toBe(events);
      const hash = whole.stateHash(sha256);
      expect(second.stateHash(sha256)).toBe(hash);
      const random = new Random(SEED, `snapshots ${profile}`);
      for (let i = 0; i < 4; i++) {
        const at = random.int(0, list.length);
        const [first] = replayed(list.slice(0, at));
        const restored = Engine.restore(first.snapshot());
        const isSame = Buffer.compare(restored.snapshot(), first.snapshot()) === 0;
        expect(isSame, `snapshot at ${at}`).toBe(true);
        const [, liveTail] = replayed(list.slice(at), first);
        const [rest, tail] = replayed(list.slice(at), restored);
        expect(tail, `events after ${at}`).toBe(liveTail);
        expect(rest.stateHash(sha256), `state after a restore at ${at}`).toBe(hash);
      }
    });
  }

  test("every single command changes the state's hash, if only by its position", () => {
    const engine = new Engine();
    const seen = new Set([engine.stateHash(sha256)]);
    for (const batch of recording("few", SEED, 400)) {
      applyBatch(engine, batch, () => seen.add(engine.stateHash(sha256)));
    }
    expect(seen.size).toBe(engine.seq + 1);
    expect(engine.seq).toBeGreaterThanOrEqual(400);
  });

  for (const profile of Object.keys(PROFILES) as ProfileName[]) {
    test(`${profile}: restored again and again, the same events at every command`, () => {
      // A restored engine keeps its rows in another order than a live one; go on from both.
      const live = new Engine();
      let hopping = new Engine();
      const step = (command: Command, expected: EventLog): void => {
        const actual = hopping.apply(command);
        if (Buffer.compare(actual.bytes(), expected.bytes()) !== 0) {
          const where = `position ${live.seq} ${JSON.stringify(command)}`;
          expect(actual.decode(), where).toEqual(expected.decode());
        }
        if (live.seq % 97 !== 0) return;
        // Sometimes in the middle of a batch.
        hopping = Engine.restore(hopping.snapshot(), RULE_SETS, [live.seq, 11]);
        expect(sha256(hopping.snapshot())).toBe(live.stateHash(sha256));
      };
      for (const batch of recording(profile, SEED, COUNT)) {
        const dropped = hopping.acceptBatch(batch.writer, batch.counter, batch.commands);
        if (applyBatch(live, batch, step) !== dropped) expect.fail(JSON.stringify(batch));
      }
      expect(hopping.stateHash(sha256)).toBe(live.stateHash(sha256));
    });
  }
});
