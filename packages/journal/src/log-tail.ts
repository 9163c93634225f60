/**
 * What stands behind the last batch of the chain: nothing, a torn commit, or damage.
 *
 * A commit is one write and one sync, and the next is not begun before the sync has returned. So if
 * the chain stops at an offset and some later commit left even one valid batch, the commit at that
 * offset had been synced, perhaps acknowledged: damage. A valid batch of the same commit proves
 * nothing, since a disk that loses power keeps the sectors of an unsynced write in any order. That
 * is why each batch says where its commit began.
 *
 * Two more things are never a torn commit: bytes that reach further than the largest commit, and
 * bytes that name a format this release does not know.
 *
 * The reverse is a limit: damage within the last commit of all looks like a torn one. It is
 * reported as such, with its extent, and its bytes are kept (torn-files.ts).
 */

import { BATCH_MAGIC, batchCommitStart, batchVersionFault } from "./batch-format.js";
import { MAX_COMMIT_BYTES } from "./commit-ring.js";
import { type DiskFile, readUpTo } from "./disk.js";
import { endOfNonZero, FileWindow, firstNonZero } from "./file-window.js";
import { selfValidLength } from "./segment-cursor.js";
import { segmentSeed } from "./segment-format.js";

export type Tail =
  | { readonly kind: "clean" }
  /** `bytes` from the chain's end to the last byte that is not zero. */
  | { readonly kind: "torn"; readonly bytes: number }
  | { readonly kind: "damaged"; readonly reason: string };

const MAGIC_BYTES = Buffer.alloc(4);
MAGIC_BYTES.writeUInt32LE(BATCH_MAGIC);
const PIECE_BYTES = 1024 * 1024;

/** Judges the bytes of a segment from `offset` on, where no batch of the chain stands. */
export function judgeTail(
  file: DiskFile,
  logId: Uint8Array,
  segment: number,
  offset: number,
): Tail {
  if (firstNonZero(file, offset) === undefined) return { kind: "clean" };
  const window = new FileWindow(file);
  const seed = segmentSeed(logId, segment);
  for (const candidate of magicOffsets(file, offset)) {
    if (selfValidLength(window, candidate, segment, seed) === undefined) continue;
    const at = window.locate(candidate, 24);
    if (at === undefined) continue;
    // A whole batch exactly here that does not continue the chain was never written here by us.
    if (candidate === offset || batchCommitStart(window.view, at) > offset) {
      return { kind: "damaged", reason: "later batches are intact" };
    }
  }
  const version = batchVersionFault(readUpTo(file, offset, 4));
  if (version !== undefined) return { kind: "damaged", reason: version };
  const bytes = endOfNonZero(file, offset) - offset;
  if (bytes <= MAX_COMMIT_BYTES) return { kind: "torn", bytes };
  const reason = `${bytes} bytes follow the last batch; one commit has ${MAX_COMMIT_BYTES} at most`;
  return { kind: "damaged", reason };
}

/** Wherever a batch might begin. */
function* magicOffsets(file: DiskFile, from: number): Generator<number> {
  const size = file.size();
  // Pieces overlap by three bytes, so that a magic across their border is seen once.
  for (let start = from; start < size; start += PIECE_BYTES) {
    const piece = readUpTo(file, start, Math.min(PIECE_BYTES + 3, size - start));
    let at = piece.indexOf(MAGIC_BYTES);
    while (at !== -1) {
      yield start + at;
      at = piece.indexOf(MAGIC_BYTES, at + 1);
    }
  }
}
