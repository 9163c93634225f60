/**
 * What shows how far a log had come, besides the log and its snapshots: the history and the
 * checkpoints. Neither is ever ahead of the synced log: a command reaches the history only when the
 * journal delivers it, after its sync, and a checkpoint is taken of what the history has on disk. So
 * one that is ahead means that the log has lost its end, and no crash does that.
 */
import type { LogProof } from "@perpgate/journal";
import { readCheckpoints } from "../checkpoint/checkpoint-file.js";
import type { HeldRow } from "../history/history-environment.js";
import { hexOf } from "../history/history-store.js";
import type { DataFolder } from "./data-folder.js";

/** Of the log with that id; without an id, of any log. */
export function logProofs(
  folder: DataFolder,
  held: HeldRow | undefined,
  logId: Uint8Array | undefined,
): LogProof[] {
  const proofs: LogProof[] = [];
  const isOfThisLog = logId === undefined || held?.log === hexOf(logId);
  // The last batch may be held in part: then its position says more than its place.
  if (held !== undefined && held.position > 0 && isOfThisLog) {
    const record = Math.max(held.record, held.position);
    proofs.push({ source: "the history", batch: held.batch, record });
  }
  const furthest = readCheckpoints(folder.checkpoints).reduce(
    (best, { batch, record }) => (batch > best.batch ? { batch, record } : best),
    { batch: 0, record: 0 },
  );
  if (furthest.batch > 0) proofs.push({ source: "checkpoints.jsonl", ...furthest });
  return proofs;
}
