/**
 * Where the data of sandboxes lie: in memory where there is room, otherwise in the temporary folder. The
 * name of a folder has its process, so that the next start removes what a killed one has left.
 */

import { mkdtempSync, readdirSync, readlinkSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Linux keeps this folder in memory: an hour has 18,000 batches, and a disk syncs each. */
const MEMORY = "/dev/shm";
/** Docker gives a container 64 MB, which a long run and its saved moments fill. */
const ROOM_BYTES = 256 * 2 ** 20;
const PREFIX = "perpgate-sandbox-";
const NAME = /^perpgate-sandbox-(\d+)-(\d+)-/;

/** A new folder of this process. */
export function newFolder(): string {
  return mkdtempSync(join(placeFor([MEMORY]), `${PREFIX}${pidNamespace()}-${process.pid}-`));
}

/** The first place with room, else the temporary folder. */
export function placeFor(places: readonly string[]): string {
  return places.find(hasRoom) ?? tmpdir();
}

function hasRoom(place: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(place);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    // There is no such place.
    return false;
  }
}

/** Removes the folders of processes that have ended without a stop. */
export function removeLeftovers(): void {
  const namespace = pidNamespace();
  for (const place of [MEMORY, tmpdir()]) {
    for (const name of namesIn(place)) {
      const [, of, pid] = NAME.exec(name) ?? [];
      if (of !== namespace || isAlive(Number(pid))) continue;
      try {
        rmSync(join(place, name), { recursive: true, force: true });
      } catch {
        // It is another user's, or another start removes it, too.
      }
    }
  }
}

function namesIn(place: string): readonly string[] {
  try {
    return readdirSync(place);
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: another user's.
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** Containers may share a folder, but not the numbers of their processes. */
function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replaceAll(/\D/g, "");
  } catch {
    return "0";
  }
}
