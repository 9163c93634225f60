/** Batches of a seeded flow, kept so that several engines can be given the same ones. */
import { createHash } from "node:crypto";
import { Engine } from "../../engine.js";
import { batches } from "../flow/flow.js";
import { applyBatch, type LogBatch } from "../flow/log-batch.js";
import type { ProfileName } from "../flow/profiles.js";
import { ReferenceVenue } from "../reference/venue.js";

export function recording(profile: ProfileName, seed: number, count: number): LogBatch[] {
  const reference = new ReferenceVenue(1_000_000);
  const list: LogBatch[] = [];
  for (const batch of batches(profile, seed, count, reference)) {
    list.push(batch);
    applyBatch(reference, batch);
  }
  return list;
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The engine after all batches, and the hash of all its events' bytes in order. */
export function replayed(list: readonly LogBatch[], engine = new Engine()): [Engine, string] {
  const events = createHash("sha256");
  for (const batch of list) {
    applyBatch(engine, batch, (_command, log) => events.update(log.bytes()));
  }
  return [engine, events.digest("hex")];
}
