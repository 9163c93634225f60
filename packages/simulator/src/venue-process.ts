/**
 * One run of the venue's process on a simulated disk: the real journal, committing in this thread,
 * and the real sequencer with a real replica and engine, the log's only writer. It starts from the newest snapshot if there is one, reports everything to the auditor, and ends
 * when the disk restarts.
 */

import { setImmediate } from "node:timers/promises";
import { Engine, GENESIS_WRITER } from "@perpgate/engine";
import {
  type Disk,
  type DiskFile,
  type DiskLock,
  type FileJournal,
  LOG_START,
  type LockHolder,
  type LogSeq,
  openJournal,
} from "@perpgate/journal";
import type { FakeDisk } from "@perpgate/journal/testing";
import { encodeRecord, NO_EVIDENCE, REAL_MACHINE, Replica, Sequencer } from "@perpgate/venue";
import type { Auditor } from "./auditor/auditor.js";
import { GENESIS } from "./listing.js";
import type { SimulatedGateway } from "./traders/gateway.js";

export const DIRECTORY = "/venue";
/** Random in production, fixed here so that a seed gives the same bytes. */
const LOG_ID = Buffer.alloc(16, 7);

const IDENTITY = { name: "venue", receiptKey: "", certificate: "" };

export interface ProcessOptions {
  readonly segmentBytes: number;
  /** Wraps the disk that the venue uses, for tests with a faulty one. */
  readonly between?: (disk: Disk) => Disk;
}

export class VenueProcess {
  /** Why it stopped, once it has. */
  failure: Error | undefined;
  readonly engine: Engine;
  private readonly sequencer: Sequencer;
  private readonly from: LogSeq;
  private nowMs = 0;
  private bursts = 0;

  private constructor(
    readonly journal: FileJournal,
    private readonly auditor: Auditor,
  ) {
    const { snapshot } = journal.snapshots.newest();
    this.engine = snapshot === undefined ? new Engine() : Engine.restore(snapshot.body);
    this.from = snapshot?.seq ?? LOG_START;
    const replica = new Replica(this.engine, [
      { onCommand: (applied) => this.auditor.shown(applied) },
    ]);
    const hooks = {
      onFailure: (error: Error) => {
        this.failure ??= error;
      },
      atPublish: () => [],
      nowMs: () => this.nowMs,
    };
    // As the log's end is unique to a life, so is the id: the same seed gives the same bytes.
    const newWriter = () => (journal.end.batch + 1).toString(16).padStart(32, "0");
    const machine = { ...REAL_MACHINE, newWriter };
    this.sequencer = new Sequencer(journal, replica, () => IDENTITY, hooks, machine);
  }

  /** Recovers and audits the recovery. Throws the errors of the disk. */
  static async start(
    disk: FakeDisk,
    auditor: Auditor,
    { segmentBytes, between = (same) => same }: ProcessOptions,
  ): Promise<VenueProcess> {
    const watched = new WatchedDisk(between(disk), () => auditor.logFailed());
    const journal = await openJournal({
      directory: DIRECTORY,
      disk: watched,
      commit: "inline",
      segmentBytes,
      newLogId: LOG_ID,
    });
    const venue = new VenueProcess(journal, auditor);
    await venue.sequencer.start(venue.from);
    const { engine } = venue;
    const { first, cut } = journal.recovery;
    auditor.recovered({ engine, first, end: journal.end, cut });
    return venue;
  }

  /** Begins the log if it is empty, and joins it. Returns false once the venue has stopped. */
  async begin(nowMs: number): Promise<boolean> {
    this.nowMs = nowMs;
    try {
      if (this.engine.state.config === null) {
        const record = encodeRecord(GENESIS, NO_EVIDENCE);
        await this.journal.append({ writer: GENESIS_WRITER, counter: 0 }, [record]);
      }
      await this.sequencer.join();
    } catch {
      // The sequencer reports it.
    }
    return this.settle();
  }

  /**
   * Submits a burst in one turn and waits until it is processed. Returns false once the venue has
   * stopped, for any reason.
   */
  async burst(handIn: (gateway: SimulatedGateway) => void): Promise<boolean> {
    this.bursts += 1;
    handIn(this.gateway(this.bursts));
    return this.settle();
  }

  /** Appends the last batch again, as a writer does that does not know whether its append succeeded. */
  async repeatLastBatch(): Promise<void> {
    const last = this.auditor.transcript.batches.at(-1);
    if (last === undefined) return;
    // The auditor sees the result in the log; a failure stops the journal and is reported by it.
    this.journal.append(last.id, last.records).catch(() => undefined);
    await this.settle();
  }

  async close(): Promise<void> {
    await this.sequencer.close();
  }

  /** One turn suffices: the journal commits in this thread, in microtasks. */
  private async settle(): Promise<boolean> {
    await setImmediate();
    this.auditor.check();
    if (this.failure !== undefined) return false;
    this.auditor.idle(this.engine);
    return true;
  }

  private gateway(burst: number): SimulatedGateway {
    return {
      submit: (command, evidence, onAnswer) => {
        const submission = this.auditor.submitted(burst, command, evidence);
        this.sequencer.submit(command, evidence, (applied) => {
          this.auditor.answered(submission, applied);
          onAnswer(applied === null ? null : applied.events.decode());
        });
      },
    };
  }
}

const SEGMENT = /\.log$/;

/**
 * A disk that reports failed writes and syncs of the log to the auditor. From then on the process
 * must acknowledge nothing that was not durable before. The report does not come from the journal,
 * since the auditor checks the journal. Other failures (a spare segment, a snapshot) are not
 * reported: the journal must handle them.
 */
class WatchedDisk implements Disk {
  constructor(
    private readonly disk: Disk,
    private readonly onLogFailure: () => void,
  ) {}

  open(path: string, mode: "read" | "write" | "create"): DiskFile {
    const file = this.disk.open(path, mode);
    return SEGMENT.test(path) ? this.watch(file) : file;
  }

  rename(from: string, to: string): void {
    this.disk.rename(from, to);
  }

  remove(path: string): void {
    this.disk.remove(path);
  }

  list(directory: string): string[] {
    return this.disk.list(directory);
  }

  makeDirectory(directory: string): void {
    this.disk.makeDirectory(directory);
  }

  syncDirectory(directory: string): void {
    this.disk.syncDirectory(directory);
  }

  roomBytes(directory: string): number {
    return this.disk.roomBytes(directory);
  }

  lock(path: string): DiskLock | LockHolder {
    return this.disk.lock(path);
  }

  private watch(file: DiskFile): DiskFile {
    return {
      size: () => file.size(),
      read: (into, offset) => file.read(into, offset),
      write: (bytes, offset) => this.attempt(() => file.write(bytes, offset)),
      sync: () => this.attempt(() => file.sync()),
      close: () => file.close(),
    };
  }

  private attempt<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      this.onLogFailure();
      throw error;
    }
  }
}
