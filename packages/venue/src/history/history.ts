/**
 * The history of a venue: what no engine rule needs but users read, such as past orders and fills. It is
 * derived from the log alone and contains only durable commands.
 *
 * Its rows are made where they are written (written-history.ts): in the store's thread, which applies the log
 * with a replica of its own, or in the caller's. The venue whose rows a thread makes has a history that
 * follows it (followed-history.ts).
 */
import type { Batch, LogSeq } from "@perpgate/journal";
import type { ArchiveHeld } from "../archive/archive-note.js";
import { AckTrees } from "../blocks/ack-trees.js";
import type { SealedBlock } from "../blocks/block-header.js";
import type { Applied } from "../replica.js";
import type { ChangeRow } from "./change-projection.js";
import type { Held } from "./history-environment.js";
import { HistoryReader } from "./history-reader.js";
import type { RetentionOptions } from "./retention.js";
import type { PlacedRow } from "./row-pages.js";
import type { PastRead } from "./store-read.js";

export interface HistoryEvents {
  /** A write failed; nothing more is written. */
  onFailure(error: Error): void;
  /** Memory of an `ExitDeadline`, which the writing thread sets when it fails. */
  readonly exitDeadline?: SharedArrayBuffer | undefined;
  /** Where it is written: in a separate thread (the default), or in the caller's. */
  readonly commit?: "thread" | "inline" | undefined;
  /** `OUTBOX_COMMANDS` unless it is set. */
  readonly outboxCommands?: number | undefined;
  /** Unset: all rows are kept. */
  readonly retention?: RetentionOptions | undefined;
  /** How far the archive is, for a retention that waits for it. */
  readonly archived?: (() => ArchiveHeld | undefined) | undefined;
}

/** Of a history that reads its store itself: complete at once. */
const DIRECT_READ: PastRead = {
  run: (work) => ({ isDone: true, value: work() }),
  end: () => undefined,
};

export abstract class History extends HistoryReader {
  /** How much of the store is rebuilt, from 0 to 1. */
  rebuilt = 0;
  /** Whether it must not be read any more. */
  isClosed = false;
  readonly ackTrees = new AckTrees(this);

  /** What is on disk. */
  abstract get durable(): Held;
  /** Lists have the rows of all commands up to this seq. */
  abstract get made(): number;
  /** Rows that are not on disk, and their bytes. */
  abstract get backlog(): number;
  abstract get tailBytes(): number;
  /** Size of the store's write-ahead file. */
  abstract get walBytes(): number;
  /** The first command whose changes are kept, unless there was none after it. */
  abstract get changesFrom(): number;

  /** `block` contains the command; `sealed` is the block that the command sealed. */
  abstract onCommand(applied: Applied, block: number, sealed: SealedBlock | null): void;
  abstract onBatchEnd(end: LogSeq, batch?: Batch): void;
  /** For a mirror, which delivers batches before they are on disk: that many are. */
  abstract onLogOnDisk(batches: number): void;

  /** Resolves once lists have the rows of every command that is applied now; undefined: they have. */
  abstract reached(): Promise<void> | undefined;
  /** Resolves once the rows of every command that is applied now are on disk. */
  abstract flush(): Promise<void>;
  /** While it is far behind: resolves once half of what it may be behind is done. Otherwise undefined. */
  abstract room(): Promise<void> | undefined;
  /** Writes nothing more: the next start makes the missing rows from the log. */
  abstract halt(): void;
  /** Ends without writing the backlog, before the process exits. */
  abstract abandon(): Promise<void>;
  abstract close(): Promise<void>;

  /** Begins a read that the caller runs, until it is complete. */
  beginRead(): PastRead {
    return DIRECT_READ;
  }

  /**
   * Runs `work`, which reads this history, without reading the disk in this thread. It may run several times and
   * must have no effect before it is complete.
   *
   * @throws {ApiError} `lagging` if the store does not answer in time
   */
  async read<T>(work: () => T): Promise<T> {
    const read = this.beginRead();
    try {
      for (;;) {
        const ran = read.run(work);
        if (ran.isDone) return ran.value;
        await ran.fetched;
      }
    } finally {
      read.end();
    }
  }

  /** The same for `work` that counts what it reads. */
  async readCounted<T>(
    onRead: (rows: number) => void,
    work: (onRead: (rows: number) => void) => T,
  ): Promise<T> {
    let count = 0;
    const result = await this.read(() => {
      count = 0;
      return work((rows) => {
        count += rows;
      });
    });
    onRead(count);
    return result;
  }

  /** What the last command changed for accounts; empty if it was skipped. */
  get lastChanges(): readonly ChangeRow[] {
    return this.rows.changes.last;
  }

  /** The fills of an account in the last command; empty if it was skipped. */
  lastFillsOf(account: number): PlacedRow[] {
    return this.rows.ledger.lastFillsOf(account);
  }

  /** Accounts whose changes and fills `lastChanges` and `lastFillsOf` return. */
  tell(isTold: (account: number) => boolean): void {
    this.rows.changes.isTold = isTold;
  }
}
