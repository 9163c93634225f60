/**
 * One run of the venue's process on a simulated disk: the real journal, committing in this thread,
 * and one or two gateways, each the real sequencer with a real replica and engine on that one log.
 * It starts from the newest snapshot if there is one, reports everything to the auditor, and ends
 * when the disk restarts.
 */

import { Engine } from "@perpgate/engine";
import { type Disk, type FileJournal, LOG_START, openJournal } from "@perpgate/journal";
import type { FakeDisk } from "@perpgate/journal/testing";
import { Replica, Sequencer } from "@perpgate/venue";
import type { Auditor } from "./auditor/auditor.js";
import type { Gateway } from "./traders/gateway.js";
import { WatchedDisk } from "./watched-disk.js";

export const DIRECTORY = "/venue";
/** Random in production, fixed here so that a seed gives the same bytes. */
const LOG_ID = Buffer.alloc(16, 7);

export interface ProcessOptions {
  readonly segmentBytes: number;
  readonly gateways: number;
  /** Wraps the disk that the venue uses, for tests with a faulty one. */
  readonly between?: (disk: Disk) => Disk;
}

/** At least one. */
export type Gateways = readonly [Gateway, ...Gateway[]];

interface Member {
  readonly writer: number;
  readonly engine: Engine;
  readonly sequencer: Sequencer;
}

export class VenueProcess {
  /** Why it stopped, once it has. */
  failure: Error | undefined;
  private readonly members: Member[] = [];
  private bursts = 0;

  private constructor(
    readonly journal: FileJournal,
    private readonly auditor: Auditor,
  ) {}

  /** Recovers and audits the recovery. Throws the errors of the disk. */
  static async start(
    disk: FakeDisk,
    auditor: Auditor,
    { segmentBytes, gateways, between = (same) => same }: ProcessOptions,
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
    for (let writer = 1; writer <= gateways; writer++) await venue.join(writer);
    const { engines } = venue;
    const { first, cut } = journal.recovery;
    auditor.recovered({ engines, first, end: journal.end, cut });
    return venue;
  }

  get engines(): readonly Engine[] {
    return this.members.map(({ engine }) => engine);
  }

  get isBegun(): boolean {
    return this.engines.some(({ state }) => state.config !== null);
  }

  /**
   * Submits a burst in one turn and waits until it is processed. Returns false once the venue has
   * stopped, for any reason.
   */
  async burst(handIn: (gateways: Gateways) => void): Promise<boolean> {
    this.bursts += 1;
    const burst = this.bursts;
    const [first, ...others] = this.members.map((member) => this.gateway(member, burst));
    if (first !== undefined) handIn([first, ...others]);
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
    for (const { sequencer } of this.members) await sequencer.close();
  }

  /** One turn suffices: the journal commits in this thread, in microtasks. */
  private async settle(): Promise<boolean> {
    await nextTurn();
    this.auditor.check();
    if (this.failure !== undefined) return false;
    this.auditor.idle(this.engines);
    return true;
  }

  private async join(writer: number): Promise<void> {
    const { journal } = this;
    const { snapshot } = journal.snapshots.newest();
    const engine = snapshot === undefined ? new Engine() : Engine.restore(snapshot.body);
    const onCommand = this.auditor.shown.bind(this.auditor, writer);
    const replica = new Replica(engine, [{ onCommand }]);
    const sequencer = new Sequencer(journal, replica, writer, (error) => {
      this.failure ??= error;
    });
    await sequencer.start(snapshot?.seq ?? LOG_START);
    this.members.push({ writer, engine, sequencer });
  }

  private gateway({ writer, sequencer }: Member, burst: number): Gateway {
    return {
      submit: (command, evidence, hear) => {
        const submission = this.auditor.submitted(writer, burst, command, evidence);
        sequencer.submit(command, evidence, (applied) => {
          this.auditor.answered(submission, applied);
          hear(applied === null ? null : applied.events.decode());
        });
      },
    };
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
