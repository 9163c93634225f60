/**
 * What would be left of a log if the power failed now and the disk lost every unsynced write: read
 * from a copy of the disk, which the process under test does not use.
 */

import { type Batch, inspectLog, type LogSeq, SegmentReader } from "@perpgate/journal";
import type { FakeDisk } from "@perpgate/journal/testing";

/** The durable batches from `from` on. */
export function durableBatches(disk: FakeDisk, directory: string, from: LogSeq): Batch[] {
  const copy = disk.clone(0);
  copy.restart("power_cut", "none");
  const state = inspectLog(copy, directory, "tail");
  return state === undefined ? [] : batchesUpTo(copy, directory, from, state.end.batch);
}

/** The batches of a log from `from` on, below a batch number. */
export function batchesUpTo(
  disk: FakeDisk,
  directory: string,
  from: LogSeq,
  until: number,
): Batch[] {
  const reader = new SegmentReader(disk, directory, from);
  const batches: Batch[] = [];
  for (let batch = reader.next(until); batch !== undefined; batch = reader.next(until)) {
    batches.push(batch);
  }
  reader.close();
  return batches;
}
