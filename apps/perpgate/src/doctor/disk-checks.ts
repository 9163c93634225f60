/** Checks of the data folder and its disk. They write to a folder of their own, and remove it. */

import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { nodeDisk } from "@perpgate/journal";
import { reasonOf } from "../cli/start-error.js";
import { MIB, type Settings } from "../serve/settings.js";
import { type Finding, ok, problem, warning } from "./finding.js";

const GIB = 2 ** 30;
const WANTED_BYTES = 5 * GIB;
/** Of the log: the one in use, the next one, and one for the history and snapshots. */
const SEGMENTS = 3;
const SYNCS = 16;
const SYNC_BYTES = 4_096;
const SLOW_SYNC_MS = 10;
/** No disk is as fast. */
const UNREAL_SYNC_MS = 0.005;
const OTHERS = 0o077;

/** File systems that lose data or locks, by the type that statfs(2) returns. */
const DOUBTFUL: ReadonlyMap<number, readonly [name: string, advice: string]> = new Map([
  [0x01021994, ["tmpfs", "it is memory, and gone after a reboot: use a folder on a disk"]],
  [0x794c7630, ["overlayfs", "it goes with its container: mount a volume for the data folder"]],
  [0x6969, ["NFS", "use a local disk, or be sure that fdatasync and flock work over it"]],
  [0xff534d42, ["CIFS", "use a local disk: locks and syncs over it cannot be relied on"]],
]);

export function checkDisk(settings: Settings, isRunning: boolean): readonly Finding[] {
  const folder = resolve(settings.data);
  const place = existing(folder);
  if (!statSync(place).isDirectory()) {
    return [problem("data folder", `${place} is not a folder`, "name one with --data")];
  }
  try {
    accessSync(place, constants.W_OK | constants.X_OK);
  } catch {
    const advice = `create the data folder for this user (chown), or choose another with --data`;
    return [problem("data folder", `${place} is not writable`, advice)];
  }
  return [checkFolder(folder, isRunning), checkSpace(settings, place), ...checkWrites(place)];
}

/** The folder, or the nearest one above it that exists. */
function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder));
}

function checkFolder(folder: string, isRunning: boolean): Finding {
  const name = "data folder";
  if (!existsSync(folder)) return ok(name, `${folder} will be created`);
  if (isRunning) return ok(name, `${folder}, which a running venue serves`);
  const journal = join(folder, "journal");
  if (!existsSync(journal)) return ok(name, `${folder} has no log yet`);
  if (process.getuid !== undefined && statSync(journal).uid !== process.getuid()) {
    const advice = "run as the owner of the folder, as the venue does";
    return problem(name, `${journal} belongs to another user`, advice);
  }
  return (statSync(folder).mode & OTHERS) === 0
    ? ok(name, folder)
    : warning(name, `${folder} is open to other users`, "chmod 700; it has addresses and orders");
}

function checkSpace({ segmentMiB }: Settings, place: string): Finding {
  const { bavail, bsize } = statfsSync(place);
  const free = bavail * bsize;
  const found = `${(free / GIB).toFixed(1)} GiB free for ${place}`;
  const needed = SEGMENTS * segmentMiB * MIB;
  if (free < needed) {
    return problem("disk space", found, `make room for ${SEGMENTS * segmentMiB} MiB at least`);
  }
  return free < WANTED_BYTES
    ? warning("disk space", found, "the log grows by 80 MB a day and 300 bytes an order: make room")
    : ok("disk space", found);
}

function checkWrites(place: string): readonly Finding[] {
  let folder = "";
  try {
    folder = mkdtempSync(join(place, ".perpgate-doctor-"));
    return [checkFileSystem(folder), checkLock(folder), checkSync(folder)];
  } catch (error) {
    return [problem("disk", reasonOf(error), "choose a folder that can be written with --data")];
  } finally {
    if (folder !== "") rmSync(folder, { recursive: true, force: true });
  }
}

function checkFileSystem(folder: string): Finding {
  const doubtful = DOUBTFUL.get(statfsSync(folder).type);
  if (doubtful === undefined) return ok("file system", "local, as far as can be seen");
  const [name, advice] = doubtful;
  return warning("file system", name, advice);
}

/** By the lock that the log takes. */
function checkLock(folder: string): Finding {
  try {
    const lock = nodeDisk.lock(folder);
    if (!lock.held) return problem("lock", "a new folder is locked already", "use a local disk");
    lock.release();
    return ok("lock", "the kernel locks folders here");
  } catch (error) {
    const advice = "install flock: the package util-linux, or busybox";
    return problem("lock", reasonOf(error), advice);
  }
}

/** Each acknowledgement waits for one sync, which it shares with those that arrive meanwhile. */
function checkSync(folder: string): Finding {
  const file = nodeDisk.open(join(folder, "sync"), "create");
  const bytes = new Uint8Array(SYNC_BYTES).fill(1);
  const times: number[] = [];
  for (let at = 0; at < SYNCS; at++) {
    file.write(bytes, at * SYNC_BYTES);
    const startMs = performance.now();
    file.sync();
    times.push(performance.now() - startMs);
  }
  file.close();
  const median = times.sort((a, b) => a - b)[SYNCS / 2]!;
  const found = `${median.toFixed(median < 1 ? 3 : 1)} ms to make 4 KiB durable`;
  if (median > SLOW_SYNC_MS) {
    return warning("sync", found, "every order waits for it: use a local SSD, or expect as much");
  }
  return median < UNREAL_SYNC_MS
    ? warning("sync", found, "no disk is as fast: a power cut may lose what was acknowledged")
    : ok("sync", found);
}
