/**
 * A writer that is restarted many times on one simulated disk, and the auditor of its log.
 *
 * The auditor knows what was appended, what was acknowledged, and what a reader was shown. After
 * every restart the log must be what it was at the last look, plus a first part of what was
 * appended since that includes everything acknowledged: whole batches, in order, to the byte.
 */

import { Random } from "@perpgate/protocol/random";
import type { FileJournal } from "../file-journal.js";
import type { Batch, LogSeq } from "../journal.js";
import { openJournal } from "../open-journal.js";
import { readAll } from "./contract.js";
import { FakeDisk, type Fault, SimulatedCrash } from "./fake-disk.js";

const DIRECTORY = "/log";

interface Appended {
  readonly counter: number;
  readonly records: readonly Uint8Array[];
}

export class CrashWorld {
  readonly disk: FakeDisk;
  readonly random: Random;
  /** Seen in the log by a reader; it may never be lost. */
  private shown: Appended[] = [];
  /** Appended since; the first `acknowledged` of them may never be lost. */
  private inFlight: Appended[] = [];
  private acknowledged = 0;
  private counter = 0;
  private snapshotAt = -1;

  constructor(
    seed: number,
    private readonly segmentBytes: number,
  ) {
    this.disk = new FakeDisk(seed);
    this.random = new Random(seed ^ 0x5eed);
  }

  /** Opens and audits. Undefined if the planned fault struck while opening. */
  async open(): Promise<FileJournal | undefined> {
    const { disk } = this;
    try {
      const journal = await openJournal({
        directory: DIRECTORY,
        disk,
        segmentBytes: this.segmentBytes,
        newLogId: Buffer.alloc(16, 7),
      });
      await this.audit(journal);
      return journal;
    } catch (error) {
      if (error instanceof SimulatedCrash || isPlanned(error)) return undefined;
      throw error;
    }
  }

  /** Appends a burst, which is one commit as long as it fits one segment. */
  async append(journal: FileJournal, batches: number): Promise<void> {
    await Promise.all(Array.from({ length: batches }, () => this.appendOne(journal)));
  }

  snapshot(journal: FileJournal): void {
    const seq = journal.end;
    try {
      journal.snapshots.write(seq, [this.random.bytes(this.random.below(900))]);
      this.snapshotAt = seq.batch;
    } catch (error) {
      if (!(error instanceof SimulatedCrash) && !isPlanned(error)) throw error;
    }
  }

  /** Prunes to the newest snapshot if there is one. */
  prune(journal: FileJournal): void {
    try {
      const at = journal.snapshots.newest().snapshot?.seq;
      if (at !== undefined) journal.prune(at);
    } catch (error) {
      if (!(error instanceof SimulatedCrash) && !isPlanned(error)) throw error;
    }
  }

  /** Lets something go wrong within the next `within` operations. */
  planFault(fault: Fault, within: number): void {
    this.disk.plan = { operation: this.disk.operations + 1 + this.random.below(within), fault };
  }

  private async appendOne(journal: FileJournal): Promise<void> {
    const { random } = this;
    const counter = this.counter++;
    const records = Array.from({ length: 1 + random.below(3) }, () =>
      random.bytes(random.chance(0.1) ? 700 : random.below(120)),
    );
    this.inFlight.push({ counter, records });
    try {
      await journal.append({ writer: "3".repeat(32), counter }, records);
      this.acknowledged += 1;
    } catch {
      // Not acknowledged: the log may hold it or not.
    }
  }

  private async audit(journal: FileJournal): Promise<void> {
    const { first } = journal.recovery;
    const found = await readAll(journal, first);
    const expected = [...this.shown, ...this.inFlight];
    const promised = this.shown.length + this.acknowledged;
    const total = first.batch + found.length;
    assert(total >= promised, `${promised} batches were promised and ${total} are there`);
    assert(total <= expected.length, `${total} batches are there, ${expected.length} appended`);
    for (const [index, batch] of found.entries()) {
      const wanted = expected[first.batch + index];
      assert(wanted !== undefined && same(batch, wanted), `batch ${first.batch + index} differs`);
    }
    this.auditSnapshot(journal, first);
    this.shown = expected.slice(0, total);
    this.inFlight = [];
    this.acknowledged = 0;
    this.counter = (this.shown.at(-1)?.counter ?? -1) + 1;
  }

  private auditSnapshot(journal: FileJournal, first: LogSeq): void {
    const { snapshot, damaged } = journal.snapshots.newest();
    const at = snapshot?.seq.batch ?? -1;
    assert(damaged.length === 0, `${damaged.join()} was left half written`);
    assert(at >= this.snapshotAt, `the snapshot at ${this.snapshotAt} is gone`);
    assert(first.batch <= Math.max(0, at), `the log begins at ${first.batch}, after its snapshot`);
  }
}

function same(batch: Batch, wanted: Appended): boolean {
  return (
    batch.id.counter === wanted.counter &&
    batch.records.length === wanted.records.length &&
    batch.records.every((record, index) => {
      const other = wanted.records[index];
      return other !== undefined && Buffer.compare(record, other) === 0;
    })
  );
}

function isPlanned(error: unknown): boolean {
  return error instanceof Error && "code" in error && ["EIO", "ENOSPC"].includes(`${error.code}`);
}

function assert(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}
