/**
 * Bytes in use of a short log and of its snapshot (places.ts says which), and some of the zeros behind:
 * one bit of each changed in turn.
 */

import { describe, expect, test } from "vitest";
import { type DamageOutcome, examineDamage } from "./damage.js";
import { OF_FILE, placesIn } from "./places.js";
import { DIRECTORY } from "./venue-process.js";
import { World, type WorldOptions } from "./world.js";

const SMALL: Partial<WorldOptions> = { segmentBytes: 4096, traders: 2 };

/** Distance between the tested bytes in unwritten parts. */
const ZEROS_APART = 61;

/** A world between two lives. */
async function pausedWorld(seed: number, options: Partial<WorldOptions>): Promise<World> {
  const world = new World(seed, { ...SMALL, ...options });
  expect(await world.live({ kind: "none" }, 4)).toBe(true);
  world.restart("kill");
  await world.finish();
  return world;
}

function offsetsIn(used: number, length: number): number[] {
  const offsets = placesIn(used, OF_FILE).map((place) => place - 1);
  for (let offset = used; offset < length; offset += ZEROS_APART) offsets.push(offset);
  return offsets;
}

async function flipEverywhere(
  world: World,
  suffix: string,
): Promise<Record<DamageOutcome, number>> {
  const seen = { refused: 0, cut: 0, snapshot_ignored: 0 };
  for (const path of world.disk.paths().filter((each) => each.endsWith(suffix))) {
    const contents = world.disk.contents(path);
    const used = contents.findLastIndex((byte) => byte !== 0) + 1;
    for (const offset of offsetsIn(used, contents.length)) {
      const flip = { path, offset, bit: offset % 8 };
      seen[await examineDamage(world.disk, DIRECTORY, world.auditor, flip)] += 1;
    }
  }
  return seen;
}

describe("one changed bit", () => {
  test("in the bytes of a log: refused by file and offset, or cut from the last commit", async () => {
    const world = await pausedWorld(1, { checkpoints: false });
    const seen = await flipEverywhere(world, ".log");
    expect(seen.refused).toBeGreaterThan(500);
    expect(seen.cut).toBeGreaterThan(20);
    expect(seen.snapshot_ignored).toBe(0);
  });

  test("in the bytes of a snapshot: the log before it is replayed instead", async () => {
    const world = await pausedWorld(1, { checkpoints: true });
    const seen = await flipEverywhere(world, ".snapshot");
    expect(seen.snapshot_ignored).toBeGreaterThan(200);
    expect(seen.cut).toBe(0);
  });
});
