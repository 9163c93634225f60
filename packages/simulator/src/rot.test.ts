/**
 * Every byte in use of a short log and of its snapshot, and some of the zeros behind: one bit of
 * each changed in turn.
 */

import { describe, expect, test } from "vitest";
import { type DamageOutcome, examineDamage } from "./damage.js";
import { DIRECTORY } from "./venue-process.js";
import { World, type WorldOptions } from "./world.js";

const SMALL: Partial<WorldOptions> = { segmentBytes: 4096, gateways: 1, traders: 2 };

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

async function flipEverywhere(
  world: World,
  suffix: string,
): Promise<Record<DamageOutcome, number>> {
  const seen = { refused: 0, cut: 0, snapshot_ignored: 0 };
  for (const path of world.disk.paths().filter((each) => each.endsWith(suffix))) {
    const contents = world.disk.contents(path);
    const used = contents.findLastIndex((byte) => byte !== 0) + 1;
    for (let offset = 0; offset < contents.length; offset += offset < used ? 1 : ZEROS_APART) {
      const flip = { path, offset, bit: offset % 8 };
      seen[await examineDamage(world.disk, DIRECTORY, world.auditor, flip)] += 1;
    }
  }
  return seen;
}

describe("one changed bit", () => {
  test("at every byte of a log: refused by file and offset, or cut from the last commit", async () => {
    const world = await pausedWorld(1, { checkpoints: false });
    const seen = await flipEverywhere(world, ".log");
    expect(seen.refused).toBeGreaterThan(3_000);
    expect(seen.cut).toBeGreaterThan(100);
    expect(seen.snapshot_ignored).toBe(0);
  });

  test("at every byte of a snapshot: the log before it is replayed instead", async () => {
    const world = await pausedWorld(1, { checkpoints: true });
    const seen = await flipEverywhere(world, ".snapshot");
    expect(seen.snapshot_ignored).toBeGreaterThan(500);
    expect(seen.cut).toBe(0);
  });
});
