/**
 * Evidence of how far a log had come, other than the log and its snapshots: the history and the
 * checkpoints. Neither is ever ahead of the synced log: a command reaches the history only after its
 * sync, and a checkpoint covers only what the history has on disk. So if one is ahead, the log has lost
 * its end, which no crash causes.
 */
import { FileSnapshots, inspectLog, LogBehind, type LogProof, nodeDisk } from "@perpgate/journal";
import { furthestCheckpoint } from "../checkpoint/checkpoint-file.js";
import type { Held, HeldRow } from "../history/history-environment.js";
import { hexOf, openForReading } from "../history/history-store.js";
import { type DataFolder, dataFolder } from "./data-folder.js";

/** `logId`: undefined for any log. */
export function logProofs(
  folder: DataFolder,
  held: HeldRow | undefined,
  logId: Uint8Array | undefined,
): LogProof[] {
  const isOfThisLog = logId === undefined || held?.log === hexOf(logId);
  return [...historyProofs(isOfThisLog ? held : undefined), ...checkpointProofs(folder)];
}

function historyProofs(held: Held | undefined): LogProof[] {
  if (held === undefined || held.position === 0) return [];
  return [{ source: "the history", batch: held.needs, record: held.record }];
}

function checkpointProofs(folder: DataFolder): LogProof[] {
  const furthest = furthestCheckpoint(folder.checkpoints);
  if (furthest === undefined) return [];
  return [{ source: "checkpoints.jsonl", batch: furthest.batch, record: furthest.record }];
}

/**
 * Checks, without the folder's lock, whether the log has lost its end; undefined if not. A live venue
 * may append meanwhile, so the proofs are read before the log's end. A damaged history shows nothing.
 */
export async function shownLoss(
  directory: string,
  onDamagedHistory: (reason: string) => void = () => undefined,
): Promise<LogBehind | undefined> {
  const folder = dataFolder(directory);
  const log = inspectLog(nodeDisk, folder.journal, "tail");
  if (log === undefined) return undefined;
  const opened = openForReading(folder.history, log.logId);
  const fault = opened !== undefined && "kind" in opened ? opened : undefined;
  if (fault?.kind === "damaged") onDamagedHistory(fault.reason);
  const store = opened === undefined || "kind" in opened ? undefined : opened;
  const snapshots = new FileSnapshots(nodeDisk, folder.journal, log.logId).list();
  const proofs = [
    ...snapshots.map(({ file, seq }) => ({ source: file, ...seq })),
    ...historyProofs(store?.held),
    ...checkpointProofs(folder),
  ];
  store?.close();
  const end = inspectLog(nodeDisk, folder.journal, "tail")?.end ?? log.end;
  const past = proofs.filter(({ batch, record }) => batch > end.batch || record > end.record);
  return past.length === 0 ? undefined : new LogBehind(folder.journal, end, past, log.first);
}
