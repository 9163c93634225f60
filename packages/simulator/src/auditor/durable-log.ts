/**
 * What would be left of a log if the power failed at this very instant and the disk kept nothing
 * that was not synced: read from a copy, which the process under test never sees.
 */

import { type Batch, inspectLog, LogReader, type LogSeq } from "@perpgate/journal";
import type { FakeDisk } from "@perpgate/journal/testing";

/** The batches that are durable from a place on. */
export function durableBatches(disk: FakeDisk, directory: string, from: LogSeq): Batch[] {
  const copy = disk.clone(0);
  copy.restart("power_cut", "none");
  const state = inspectLog(copy, directory, "tail");
  return state === undefined ? [] : batchesUpTo(copy, directory, from, state.end.batch);
}

/** The batches of a log from a place on, below a batch number. */
export function batchesUpTo(
  disk: FakeDisk,
  directory: string,
  from: LogSeq,
  until: number,
): Batch[] {
  const reader = new LogReader(disk, directory, from);
  const batches: Batch[] = [];
  for (let batch = reader.next(until); batch !== undefined; batch = reader.next(until)) {
    batches.push(batch);
  }
  reader.close();
  return batches;
}
