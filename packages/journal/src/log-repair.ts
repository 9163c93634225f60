/**
 * Makes an inspected log safe to append to: every batch found becomes durable, and the bytes of a
 * torn commit become zeros, so that they can neither reappear nor be misread later. The torn bytes
 * are copied first.
 *
 * The last commit is rewritten, byte for byte, and then synced. A process that died may have left it
 * in the page cache only; and if its sync had failed, the kernel may have pages marked clean that it
 * never wrote, so that a sync alone would succeed without writing them. Earlier commits are durable,
 * because each was synced before the next write. For the same reason zeros are written after the
 * last commit even where zeros are read: an earlier repair whose sync failed may have left them in
 * the page cache only, and the torn commit on the medium.
 *
 * A crash during the repair leaves a log that the next open finds unchanged or repairs the same way.
 */

import { basename, join } from "node:path";
import { type Disk, makeWhole, readUpTo, writeFully, writeZeros } from "./disk.js";
import { MAX_BATCH_BYTES } from "./journal.js";
import type { LogState, TornTail } from "./log-state.js";
import { segmentNumber, segmentPath } from "./segment-format.js";
import { UNFINISHED_SUFFIX } from "./spare-segments.js";

/** Longer than any commit: a commit is one run of the ring, which holds four of the largest batches. */
const ZEROED_BYTES = 8 * MAX_BATCH_BYTES;

/** What was cut from the end of the log. It was never acknowledged. */
export interface CutTail extends TornTail {
  /** The file with a copy of the bytes. */
  readonly copy: string;
}

export function repairLog(disk: Disk, directory: string, state: LogState): CutTail[] {
  const cut = state.torn.map((torn) => cutTail(disk, directory, torn));
  const file = disk.open(segmentPath(directory, state.segment), "write");
  try {
    const { lastCommitStart, offset } = state;
    writeFully(file, readUpTo(file, lastCommitStart, offset - lastCommitStart), lastCommitStart);
    writeZeros(file, offset, Math.min(file.size(), offset + ZEROED_BYTES));
    file.sync();
  } finally {
    file.close();
  }
  if (state.spareReady) zeroSpare(disk, segmentPath(directory, state.segment + 1));
  disk.syncDirectory(directory);
  return cut;
}

/** Zeros the start of an unused segment: a torn commit may have written to it. */
function zeroSpare(disk: Disk, path: string): void {
  const file = disk.open(path, "write");
  try {
    writeZeros(file, 0, Math.min(file.size(), ZEROED_BYTES));
    file.sync();
  } finally {
    file.close();
  }
}

/** Removes files that were incomplete when the process died. */
export function removeUnfinished(disk: Disk, directory: string): void {
  for (const name of disk.list(directory)) {
    if (name.endsWith(UNFINISHED_SUFFIX)) disk.remove(`${directory}/${name}`);
  }
}

function cutTail(disk: Disk, directory: string, torn: TornTail): CutTail {
  const copy = keepTornTail(disk, directory, torn);
  const file = disk.open(torn.file, "write");
  try {
    writeZeros(file, torn.offset, torn.offset + torn.bytes);
    return { ...torn, copy };
  } finally {
    file.close();
  }
}

export const KEPT_TORN_FILES = 16;

const NAME = /^torn-(\d{8})-segment-(\d{10})-offset-(\d+)\.bin$/;

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
 *
 * Copies a torn tail and returns the copy's path.
 */
function keepTornTail(disk: Disk, directory: string, torn: TornTail): string {
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
