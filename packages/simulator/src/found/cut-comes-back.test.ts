/**
 * Found (seed 200229): what recovery cut could come back. Its zeros reached the page cache, their
 * sync failed, and the next process saw zeros and wrote none; the medium still had the old bytes. If
 * the first batch of the torn commit was then appended again, as an unknown outcome is settled, and
 * the power failed, the second stood behind it once more. Zeros are now written at every open.
 */

import { type FileJournal, openJournal } from "@perpgate/journal";
import { FakeDisk } from "@perpgate/journal/testing";
import { expect, test } from "vitest";

const TRIES = 300;
const BEFORE = [new Uint8Array(10)];
/** Longer than a sector, so that a power cut can take it and leave the other. */
const FIRST = [new Uint8Array(900).fill(1)];
const SECOND = [new Uint8Array(300).fill(2)];

function open(disk: FakeDisk): Promise<FileJournal> {
  const newLogId = Buffer.alloc(16, 7);
  return openJournal({ directory: "/log", disk, segmentBytes: 8192, newLogId });
}

const id = (counter: number) => ({ writer: "a".repeat(32), counter });

/** How many batches the log ends with, or undefined if the seed gives another sequence. */
async function batchesAtTheEnd(seed: number): Promise<number | undefined> {
  const disk = new FakeDisk(seed);
  const before = await open(disk);
  await before.append(id(0), BEFORE);
  disk.plan = { operation: disk.operations + 2, fault: { kind: "crash" } };
  await Promise.allSettled([before.append(id(1), FIRST), before.append(id(2), SECOND)]);
  disk.restart("power_cut");
  // The torn bytes are copied first: create, write, sync, rename, sync of the directory.
  disk.plan = { operation: disk.operations + 7, fault: { kind: "failed_sync" } };
  const failed = await open(disk).then(
    () => false,
    () => true,
  );
  disk.restart("kill");
  const repaired = await open(disk);
  if (!failed || repaired.end.batch !== 1) return undefined;
  await repaired.append(id(1), FIRST);
  disk.restart("power_cut");
  return (await open(disk)).end.batch;
}

test("a batch that recovery cut, after a failed sync: never in the log again", async () => {
  const ends = new Set<number | undefined>();
  for (let seed = 1; seed <= TRIES; seed++) ends.add(await batchesAtTheEnd(seed));
  expect(ends).toEqual(new Set([undefined, 2]));
});
