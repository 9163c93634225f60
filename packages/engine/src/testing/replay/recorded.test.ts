/**
 * Recorded logs of version 2 of the rules replay to the recorded hashes: on every machine, every Node and
 * every later release. The batches are in the file, so a change of the generator cannot hide a change of
 * the engine. `.ci/run` runs this on the Node of the release and on a later one.
 *
 * UPDATE_RECORDED=1 writes the file again; only a version of the rules that is not frozen may need that.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { LogBatch } from "../flow/log-batch.js";
import { PROFILES, type ProfileName } from "../flow/profiles.js";
import { recording, replayed, sha256 } from "./recording.js";

const FILE = new URL("./recorded/version-2.json.gz", import.meta.url);
const SEED = 12;
const COUNT = 800;

interface Recorded {
  readonly profile: string;
  readonly batches: readonly LogBatch[];
  /** SHA-256 of the bytes of all events, and of the state at the end. */
  readonly events: string;
  readonly state: string;
}

function hashesOf(batches: readonly LogBatch[]): Pick<Recorded, "events" | "state"> {
  const [engine, events] = replayed(batches);
  return { events, state: engine.stateHash(sha256) };
}

function record(): void {
  const all = (Object.keys(PROFILES) as ProfileName[]).map((profile): Recorded => {
    const batches = recording(profile, SEED, COUNT);
    return { profile, batches, ...hashesOf(batches) };
  });
  writeFileSync(FILE, gzipSync(JSON.stringify(all), { level: 9 }));
}

if (process.env.UPDATE_RECORDED === "1") record();

describe("recorded logs of version 2: the recorded events and state", () => {
  const recorded: Recorded[] = JSON.parse(gunzipSync(readFileSync(FILE)).toString());
  test.each(recorded)("$profile", ({ batches, events, state }) => {
    expect(hashesOf(batches)).toEqual({ events, state });
  });
});
