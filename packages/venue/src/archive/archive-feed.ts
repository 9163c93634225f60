/**
 * Follows a data folder's log with a replica of its own and hands out the rows that an archive lacks. It
 * changes nothing and may run while the venue does, which never waits for it.
 *
 * It reads the log as far as the store has it: that much is certain to stay, also if the machine fails.
 */
import { setImmediate } from "node:timers/promises";
import {
  FileSnapshots,
  JournalDamaged,
  LOG_START,
  type LogState,
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
import { ARCHIVED_TABLES, ArchiveRows, type CollectedRows } from "./archive-rows.js";

/** How far an archive is. */
export interface ArchiveHeld {
  /** Of the last command that it has. */
  readonly position: number;
  readonly batch: number;
  readonly record: number;
}

export interface ArchiveBatch {
  /** What the archive has with these rows. */
  readonly held: ArchiveHeld;
  readonly rows: CollectedRows;
}

/** The archive cannot be continued from this folder. */
export class ArchiveRefused extends Error {
  override readonly name = "ArchiveRefused";
}

const NOTHING: ArchiveHeld = { position: 0, batch: 0, record: 0 };
/** Batches between two turns of the event loop, on which the writing of earlier rows goes on. */
const TURN_BATCHES = 16;

export class ArchiveFeed {
  private readonly rows = new ArchiveRows();
  private readonly replica: Replica;

  private constructor(
    private readonly directory: string,
    /** Lower-case hex. */
    readonly logId: string,
    private readonly reader: SegmentReader,
    state: ReplicaState,
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

  /** The id of a folder's log, lower-case hex. */
  static logOf(directory: string): string {
    return hexOf(logIn(directory).logId);
  }

  /** `held`: what the archive has; undefined: nothing. @throws {ArchiveRefused} */
  static open(directory: string, held: ArchiveHeld = NOTHING): ArchiveFeed {
    const folder = dataFolder(directory);
    const log = logIn(directory);
    if (held.record > log.end.record) {
      throw new ArchiveRefused(
        `the archive has ${held.record} records of the log, which has ${log.end.record}: it has lost its end`,
      );
    }
    const snapshots = new FileSnapshots(nodeDisk, folder.journal, log.logId);
    const newest = newestOf([snapshots], held.batch);
    if (newest === undefined && log.first.batch > 0) {
      throw new ArchiveRefused(
        `the log begins at record ${log.first.record}, and no snapshot is as old as the archive`,
      );
    }
    const { state, from } = newest ?? { state: newReplicaState(), from: LOG_START };
    const reader = new SegmentReader(nodeDisk, folder.journal, from);
    return new ArchiveFeed(directory, hexOf(log.logId), reader, state, held);
  }

  /**
   * The rows of the next commands that the archive lacks, about `commands` of them; undefined while there are no
   * more, or once the signal is aborted. What it has is applied first, which makes no rows.
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
      if (count % TURN_BATCHES !== 0) continue;
      await setImmediate();
      if (signal.aborted) return undefined;
    }
    const { batch, record } = reader.seq;
    if (batch <= from) return undefined;
    return { held: { position: replica.seq, batch, record }, rows: this.rows.take() };
  }

  close(): void {
    this.reader.close();
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

function logIn(directory: string): LogState {
  const log = inspectStart(dataFolder(directory).journal);
  if (log instanceof JournalDamaged) throw log;
  return log;
}
