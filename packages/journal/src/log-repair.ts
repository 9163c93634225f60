/**
 * Makes an inspected log safe to append to: every batch found becomes durable, and the bytes of a
 * torn commit become zeros, so that they can neither reappear nor be misread later. The torn bytes
 * are copied first (torn-files.ts).
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

import { type Disk, readUpTo, writeFully, writeZeros } from "./disk.js";
import { MAX_BATCH_BYTES } from "./journal.js";
import type { LogState, TornTail } from "./log-state.js";
import { segmentPath } from "./segment-format.js";
import { UNFINISHED_SUFFIX } from "./spare-segments.js";
import { keepTornTail } from "./torn-files.js";

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
