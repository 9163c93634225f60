/**
 * Classifies the bytes after the last batch of the chain: nothing, a torn commit, or damage.
 *
 * A commit is one write and one sync, and the next write starts only after the sync has returned. So
 * if the chain stops at an offset and a later commit left even one valid batch, the commit at that
 * offset had been synced and may have been acknowledged: damage. A valid batch of the same commit
 * proves nothing, since after a power loss any subset of an unsynced write's sectors may be on disk.
 * That is why each batch stores where its commit began.
 *
 * Two more cases are never a torn commit: bytes that extend further than the largest commit, and
 * bytes with the magic of an unknown format.
 *
 * A limit: damage within the very last commit looks like a torn one. It is reported as such, with
 * its extent, and its bytes are copied (log-repair.ts).
 */

import { BATCH_MAGIC, batchCommitStart, batchVersionFault } from "./batch-format.js";
import { MAX_COMMIT_BYTES } from "./commit-ring.js";
import { type DiskFile, readUpTo } from "./disk.js";
import { endOfNonZero, FileWindow, firstNonZero } from "./file-window.js";
import { selfValidLength } from "./segment-cursor.js";
import { segmentSeed } from "./segment-format.js";

type Tail =
  | { readonly kind: "clean" }
  /** `bytes` from the chain's end to the last byte that is not zero. */
  | { readonly kind: "torn"; readonly bytes: number }
  | { readonly kind: "damaged"; readonly reason: string };

const MAGIC_BYTES = Buffer.alloc(4);
MAGIC_BYTES.writeUInt32LE(BATCH_MAGIC);
const PIECE_BYTES = 1024 * 1024;

/** Classifies the bytes of a segment from `offset` on, where the chain ends. */
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
    // A valid batch exactly at `offset` that does not continue the chain was not written there by us.
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

/** Every offset where a batch might begin. */
function* magicOffsets(file: DiskFile, from: number): Generator<number> {
  const size = file.size();
  // Pieces overlap by three bytes, so that a magic number across their border is found once.
  for (let start = from; start < size; start += PIECE_BYTES) {
    const piece = readUpTo(file, start, Math.min(PIECE_BYTES + 3, size - start));
    let at = piece.indexOf(MAGIC_BYTES);
    while (at !== -1) {
      yield start + at;
      at = piece.indexOf(MAGIC_BYTES, at + 1);
    }
  }
}
