/**
 * Recorded logs of version 2 of the rules replay to the recorded hashes: on every machine, every Node and
 * every later release. The batches are in the file, so a change of the generator cannot hide a change of
 * the engine. `.ci/run` runs this on the Node of the release and on a later one.
 */

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { LogBatch } from "../flow/log-batch.js";
import { replayed, sha256 } from "./recording.js";

const FILE = new URL("./recorded/version-2.json.gz", import.meta.url);

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

describe("recorded logs of version 2: the recorded events and state", () => {
  const recorded: Recorded[] = JSON.parse(gunzipSync(readFileSync(FILE)).toString());
  test.each(recorded)("$profile", ({ batches, events, state }) => {
    expect(hashesOf(batches)).toEqual({ events, state });
  });
});
