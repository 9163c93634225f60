/**
 * Rot: one bit of a copy of the disk changes, and the copy is opened. Either the journal refuses and
 * names the file, at or before the byte; or the bit is in the last commit, where damage looks like a
 * torn write, and the rest was cut and reported; or it is in a snapshot, which is ignored. Every
 * batch that is found must be what was written.
 */

import { Engine } from "@perpgate/engine";
import { JournalDamaged, JournalError, LOG_START, openJournal } from "@perpgate/journal";
import type { FakeDisk } from "@perpgate/journal/testing";
import { Replica } from "@perpgate/venue";
import type { Auditor } from "./auditor/auditor.js";
import { batchesUpTo } from "./auditor/durable-log.js";
import { stateHashOf, Transcript } from "./auditor/transcript.js";
import { mustHold, sameBytes } from "./auditor/violation.js";

export type DamageOutcome = "refused" | "cut" | "snapshot_ignored";

interface Flip {
  readonly path: string;
  readonly offset: number;
  readonly bit: number;
}

/** Flips a bit of a copy of the disk of a process that has ended. */
export async function examineDamage(
  disk: FakeDisk,
  directory: string,
  auditor: Auditor,
  { path, offset, bit }: Flip,
): Promise<DamageOutcome> {
  const copy = disk.clone(offset);
  copy.flipBit(path, offset, bit);
  const where = `bit ${bit} of byte ${offset} of ${path}`;
  const inSnapshot = !path.endsWith(".log");
  try {
    const cut = await openDamaged(copy, directory, auditor, where);
    mustHold(inSnapshot || cut.includes(path), () => `${where} changed and was not noticed`);
    return inSnapshot ? "snapshot_ignored" : "cut";
  } catch (error) {
    // Without the snapshot that it begins at, a pruned log cannot be used.
    if (inSnapshot && error instanceof JournalError) return "refused";
    if (!(error instanceof JournalDamaged)) throw error;
    mustHold(
      error.file === path && error.offset <= offset,
      () => `${where} changed, reported as ${error.message}`,
    );
    return "refused";
  }
}

/** Opens and replays; returns the files that something was cut from. */
async function openDamaged(
  disk: FakeDisk,
  directory: string,
  auditor: Auditor,
  where: string,
): Promise<string[]> {
  const journal = await openJournal({ directory, disk, commit: "inline", segmentBytes: 4096 });
  const { first, end, cut } = journal.recovery;
  const { snapshot } = journal.snapshots.newest();
  const engine = snapshot === undefined ? new Engine() : Engine.restore(snapshot.body);
  const replica = new Replica(engine);
  const reading = journal.read(snapshot?.seq ?? LOG_START, (batch) => {
    replica.applyBatch(batch);
  });
  await reading.live;
  await journal.close();
  const kept = auditor.transcript;
  const least = auditor.lastCommitBefore(kept.end.batch);
  mustHold(end.batch >= least, () => `${where} cost batches ${end.batch} to ${least}`);
  mustHold(
    cut.length > 0 || end.batch === kept.end.batch,
    () => `${where} cost batches and was not reported`,
  );
  const found = new Transcript();
  for (const batch of kept.batches.slice(0, first.batch)) found.append(batch);
  for (const batch of batchesUpTo(disk, directory, first, end.batch)) found.append(batch);
  for (const { seq, record } of found.entries) {
    const written = kept.entries[seq - 1];
    mustHold(
      written !== undefined && sameBytes(record, written.record),
      () => `${where} changed the record at seq ${seq}`,
    );
  }
  mustHold(stateHashOf(engine) === found.stateHash(), () => `${where} changed the state`);
  return cut.map(({ file }) => file);
}
