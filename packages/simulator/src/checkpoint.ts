/**
 * A second replica that reads the log files, some batches behind, and writes a snapshot: what the
 * venue's checkpoint thread does, without the thread.
 */

import { Engine } from "@perpgate/engine";
import { type FileJournal, LOG_START } from "@perpgate/journal";
import type { FakeDisk } from "@perpgate/journal/testing";
import type { Random } from "@perpgate/protocol/random";
import { Replica } from "@perpgate/venue";
import { batchesUpTo } from "./auditor/durable-log.js";

/** Throws the errors of the disk; the log is not affected. */
export function takeCheckpoint(
  disk: FakeDisk,
  directory: string,
  journal: FileJournal,
  random: Random,
): void {
  const { snapshot } = journal.snapshots.newest();
  const from = snapshot?.seq ?? LOG_START;
  const behind = random.below(journal.end.batch - from.batch + 1);
  const batches = batchesUpTo(disk, directory, from, journal.end.batch - behind);
  const last = batches.at(-1);
  if (last === undefined) return;
  const follower = new Replica(
    snapshot === undefined ? new Engine() : Engine.restore(snapshot.body),
  );
  for (const batch of batches) follower.applyBatch(batch);
  journal.snapshots.write(last.end, [follower.engine.snapshot()]);
}
