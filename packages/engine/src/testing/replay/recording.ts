/** Commands of a seeded flow, kept so that several engines can be given the same ones. */
import { createHash } from "node:crypto";
import type { Command } from "../../commands.js";
import { Engine } from "../../engine.js";
import { commands } from "../flow/flow.js";
import type { ProfileName } from "../flow/profiles.js";
import { ReferenceVenue } from "../reference/venue.js";

export function recording(profile: ProfileName, seed: number, count: number): Command[] {
  const reference = new ReferenceVenue(1_000_000);
  const list: Command[] = [];
  for (const command of commands(profile, seed, count, reference)) {
    list.push(command);
    reference.apply(command);
  }
  return list;
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The engine after all commands, and the hash of all its events' bytes in order. */
export function replayed(list: readonly Command[], engine = new Engine()): [Engine, string] {
  const events = createHash("sha256");
  for (const command of list) events.update(engine.apply(command).bytes());
  return [engine, events.digest("hex")];
}
