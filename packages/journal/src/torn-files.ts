/**
 * Copies of torn commits. As far as the log can tell, bytes that are cut from its end were never
 * acknowledged; but damage within the last commit looks the same, so they are kept for an
 * investigation. The copy is durable before the log is changed.
 *
 *   torn-00000003-segment-0000000002-offset-4096.bin     the bytes, unchanged, and nothing else
 *
 * The first number counts the copies. The newest `KEPT_TORN_FILES` are kept; each is one commit at
 * most, so together they take at most 64 MiB. A crash leaves a copy that the next open reuses, or an
 * unfinished file that the next open removes.
 */

import { basename, join } from "node:path";
import { type Disk, makeWhole, readUpTo, writeFully } from "./disk.js";
import type { TornTail } from "./log-state.js";
import { segmentNumber } from "./segment-format.js";
import { UNFINISHED_SUFFIX } from "./spare-segments.js";

export const KEPT_TORN_FILES = 16;

const NAME = /^torn-(\d{8})-segment-(\d{10})-offset-(\d+)\.bin$/;

/** Copies a torn tail and returns the copy's path. */
export function keepTornTail(disk: Disk, directory: string, torn: TornTail): string {
  const bytes = readTail(disk, torn);
  const names = tornFiles(disk, directory);
  const place = placeName(torn);
  const known = names.find((name) => name.endsWith(place) && holds(disk, directory, name, bytes));
  if (known !== undefined) return join(directory, known);
  const last = Number(NAME.exec(names[0] ?? "")?.[1] ?? 0);
  const name = `torn-${String(last + 1).padStart(8, "0")}${place}`;
  const path = join(directory, name);
  makeWhole(disk, path + UNFINISHED_SUFFIX, path, () => {
    const file = disk.open(path + UNFINISHED_SUFFIX, "create");
    try {
      writeFully(file, bytes, 0);
      file.sync();
    } finally {
      file.close();
    }
  });
  disk.syncDirectory(directory);
  // The newest copy is durable now, so the oldest may go.
  for (const old of names.slice(KEPT_TORN_FILES - 1)) disk.remove(join(directory, old));
  return path;
}

/** Names of the copies, the newest first. */
function tornFiles(disk: Disk, directory: string): string[] {
  const names = disk.list(directory).filter((name) => NAME.test(name));
  return names.sort().reverse();
}

function placeName({ file, offset }: TornTail): string {
  const segment = segmentNumber(basename(file)) ?? 0;
  return `-segment-${String(segment).padStart(10, "0")}-offset-${offset}.bin`;
}

function readTail(disk: Disk, { file: path, offset, bytes }: TornTail): Buffer {
  const file = disk.open(path, "read");
  try {
    return readUpTo(file, offset, bytes);
  } finally {
    file.close();
  }
}

function holds(disk: Disk, directory: string, name: string, bytes: Buffer): boolean {
  const file = disk.open(join(directory, name), "read");
  try {
    return file.size() === bytes.length && readUpTo(file, 0, bytes.length).equals(bytes);
  } finally {
    file.close();
  }
}
