/**
 * Follows a data folder's log with a replica of its own and hands out the rows that an archive lacks. It
 * changes nothing and may run while the venue does, which never waits for it.
 *
 * It reads the log as far as the store has it: that much is certain to stay, also if the machine fails.
 */
import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import {
  FileSnapshots,
  isMirrorLog,
  JournalDamaged,
  LOG_START,
  nodeDisk,
  SegmentReader,
} from "@perpgate/journal";
import { FoundHistory } from "../history/found-history.js";
import { hexOf } from "../history/history-store.js";
import { dataFolder } from "../recovery/data-folder.js";
import { newestOf } from "../recovery/newest-state.js";
import { newReplicaState, observe, type ReplicaState } from "../recovery/replica-state.js";
import { Replica } from "../replica.js";
import { inspectStart } from "../verify/starting-point.js";
import { type ArchiveHeld, NOTHING_ARCHIVED } from "./archive-note.js";
import { ARCHIVED_TABLES, ArchiveRows, type CollectedRows } from "./archive-rows.js";

export interface ArchiveBatch {
  /** What the archive has with these rows. */
  readonly held: ArchiveHeld;
  readonly rows: CollectedRows;
}

/** The archive cannot be continued from this folder. */
export class ArchiveRefused extends Error {
  override readonly name = "ArchiveRefused";
}

/** Batches between two turns of the event loop, on which the writing of earlier rows goes on. */
const TURN_BATCHES = 16;

export class ArchiveFeed {
  private readonly rows = new ArchiveRows();
  private readonly replica: Replica;
  /** It has reached the archive's end, and had the same rows up to there. */
  private isSamePast = false;

  private constructor(
    private readonly directory: string,
    /** Of the folder's log, lower-case hex. */
    private readonly logId: string,
    private readonly reader: SegmentReader,
    private readonly state: ReplicaState,
    private readonly held: ArchiveHeld,
  ) {
    const { rows } = state;
    // The outbox is not archived.
    rows.changes.from = Number.POSITIVE_INFINITY;
    this.replica = new Replica(state.engine, [
      {
        onCommand: (applied) => {
          const sealed = observe(state, applied);
          rows.attach(applied.seq > held.position ? this.rows : undefined, ARCHIVED_TABLES);
          rows.onCommand(applied, state.blocks.currentNumber, sealed);
        },
      },
    ]);
  }

  /** `held`: what the archive has. @throws {ArchiveRefused} */
  static open(directory: string, held: ArchiveHeld = NOTHING_ARCHIVED): ArchiveFeed {
    const folder = dataFolder(directory);
    const log = inspectStart(folder.journal);
    if (log instanceof JournalDamaged) throw log;
    const snapshots = new FileSnapshots(nodeDisk, folder.journal, log.logId);
    const newest = newestOf([snapshots], held.batch);
    if (newest === undefined && log.first.batch > 0) {
      throw new ArchiveRefused(
        `the log begins at record ${log.first.record}, and no snapshot is as old as the archive`,
      );
    }
    const { state, from } = newest ?? { state: newReplicaState(), from: LOG_START };
    const reader = new SegmentReader(nodeDisk, folder.journal, from);
    const feed = new ArchiveFeed(directory, hexOf(log.logId), reader, state, held);
    try {
      feed.requireVenue();
      // A core of a cluster may be behind the one that has fed the archive.
      const mayGrow = (): boolean => isMirrorLog(nodeDisk, folder.journal, log.first, log.end);
      if (held.record > log.end.record && !mayGrow()) {
        throw new ArchiveRefused(
          `the archive has ${held.record} records of the log, which has ${log.end.record}: it has lost its end`,
        );
      }
      feed.requireSamePast();
    } catch (error) {
      feed.close();
      throw error;
    }
    return feed;
  }

  /**
   * The rows of the next commands that the archive lacks, about `commands` of them; undefined while there are no
   * more, or once the signal is aborted. What it has is applied first, which makes no rows.
   *
   * @throws {ArchiveRefused} if that is not what this log had there
   */
  async next(commands: number, signal: AbortSignal): Promise<ArchiveBatch | undefined> {
    const { reader, replica, held } = this;
    const from = Math.max(reader.seq.batch, held.batch);
    const last = Math.max(replica.seq, held.position) + commands;
    const until = this.end();
    for (let count = 1; replica.seq < last; count++) {
      const next = reader.next(until);
      if (next === undefined) break;
      replica.applyBatch(next);
      this.requireSamePast();
      if (count % TURN_BATCHES !== 0) continue;
      await setImmediate();
      if (signal.aborted) return undefined;
    }
    if (reader.seq.batch <= from) return undefined;
    return { held: this.place(), rows: this.rows.take() };
  }

  close(): void {
    this.reader.close();
  }

  /** Where the replica is. */
  private place(): ArchiveHeld {
    const { replica, reader, state } = this;
    const { number, parentHash, events } = state.blocks.open();
    return {
      venue: state.listing.venueId ?? "",
      position: replica.seq,
      ...reader.seq,
      block: number - 1,
      blockHash: parentHash.toString("hex"),
      openHash: createHash("sha256").update(events).digest("hex"),
    };
  }

  /** Reads the log's beginning if only that names the venue, and the archive has it. */
  private requireVenue(): void {
    const { held, reader, replica, state } = this;
    const isNamed = state.listing.venueId !== null;
    const first = isNamed || held.batch === 0 ? undefined : reader.next(this.end());
    if (first !== undefined) replica.applyBatch(first);
    const { venueId } = state.listing;
    if (venueId === null || held.venue === "" || venueId === held.venue) return;
    throw new ArchiveRefused("the archive is of another venue");
  }

  /** Where the archive ends the log must be what the archive has. */
  private requireSamePast(): void {
    const { held, reader } = this;
    const { batch, record } = reader.seq;
    // Another log may have as many records in fewer batches, or more.
    const isReached = batch >= held.batch || record >= held.record;
    if (this.isSamePast || !isReached) return;
    this.isSamePast = held.batch === 0 || isSamePlace(this.place(), held);
    if (this.isSamePast) return;
    throw new ArchiveRefused(
      `the archive has another past than this log, up to position ${held.position}: one of them was restored ` +
        "or has lost its end; begin another archive",
    );
  }

  /** Batches that the store has. */
  private end(): number {
    const found = FoundHistory.find(dataFolder(this.directory).history);
    try {
      return found.row?.log === this.logId ? found.row.batch : 0;
    } finally {
      found.close();
    }
  }
}

function isSamePlace(place: ArchiveHeld, held: ArchiveHeld): boolean {
  return (
    place.position === held.position &&
    place.batch === held.batch &&
    place.record === held.record &&
    place.block === held.block &&
    place.blockHash === held.blockHash &&
    (held.openHash === "" || place.openHash === held.openHash)
  );
}
