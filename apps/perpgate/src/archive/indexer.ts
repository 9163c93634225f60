/**
 * Feeds an archive in PostgreSQL from the log of a data folder, until its signal is aborted.
 *
 * While PostgreSQL cannot be reached it tries again; while another process feeds the archive it waits, to
 * go on if that one ends.
 */
import { setTimeout } from "node:timers/promises";
import { JournalError } from "@perpgate/journal";
import {
  type ArchiveBatch,
  ArchiveFeed,
  type ArchiveHeld,
  ArchiveRefused,
  expectArchive,
  NOTHING_ARCHIVED,
  NothingToVerify,
  noteArchived,
  UnknownToRelease,
} from "@perpgate/venue";
import { ArchiveDatabase } from "./archive-database.js";

export interface IndexerSettings {
  /** The data folder. */
  readonly directory: string;
  /** The address of the database. */
  readonly postgres: string;
  /** Ends with the log, instead of following it. */
  readonly once?: boolean | undefined;
  /** Of a transaction, about. */
  readonly commands?: number | undefined;
  /** Without an answer of the database for so long it connects again; minutes, unless it is set. */
  readonly answerMs?: number | undefined;
  /** Writes how far the archive is into the data folder: the venue there drops no row before. */
  readonly isNoted?: boolean | undefined;
}

interface IndexerReport {
  onProgress(held: ArchiveHeld): void;
  /** Another process feeds the archive. */
  onWait(): void;
  /** It tries again. */
  onFailure(reason: string): void;
}

/** One that PostgreSQL takes, and one whose rows are made meanwhile. */
const PENDING_BATCHES = 2;
/** Commands of a transaction: larger ones delay readers of the archive, smaller ones cost more. */
const BATCH_COMMANDS = 10_000;
const POLL_MS = 200;
const RETRY_MS = 1_000;

/** The archive cannot be fed from this folder; no later try changes that. */
export class IndexerRefused extends Error {
  override readonly name = "IndexerRefused";
}

export class Indexer {
  private held = NOTHING_ARCHIVED;
  private feed: ArchiveFeed | undefined;
  /** Read, and not known to be in the archive, in order. */
  private readonly pending: ArchiveBatch[] = [];

  constructor(
    private readonly settings: IndexerSettings,
    private readonly report: IndexerReport,
    private readonly signal: AbortSignal,
  ) {}

  /** Until the signal, or with `once` the end of the log. @throws {IndexerRefused} */
  async run(): Promise<ArchiveHeld> {
    for (;;) {
      try {
        if (await this.follow()) return this.held;
      } catch (error) {
        if (isRefusal(error)) throw new IndexerRefused(error.message);
        // Whatever PostgreSQL says: its restart, a lock, or a full disk may be over soon.
        this.report.onFailure(error instanceof Error ? error.message : String(error));
      }
      if (this.signal.aborted) return this.held;
      await this.pause(RETRY_MS);
    }
  }

  /** Returns whether it is done. */
  private async follow(): Promise<boolean> {
    const { directory, postgres, once, isNoted, answerMs } = this.settings;
    if (isNoted === true) expectArchive(directory);
    const database = await ArchiveDatabase.open(postgres, answerMs);
    if (!(database instanceof ArchiveDatabase)) {
      this.note(database);
      this.report.onWait();
      return false;
    }
    try {
      this.resume(await database.held());
      this.note(this.held);
      while (!this.signal.aborted) {
        if (this.pending.length === 0) await this.read();
        const [first] = this.pending;
        if (first === undefined) {
          if (this.signal.aborted) break;
          if (once === true) return true;
          await this.pause(POLL_MS);
          continue;
        }
        const [written, read] = await Promise.allSettled([
          database.write(this.held, first),
          this.read(),
        ]);
        if (written.status === "rejected") throw written.reason;
        this.pending.shift();
        this.held = first.held;
        this.note(this.held);
        this.report.onProgress(this.held);
        if (read.status === "rejected") throw read.reason;
      }
      return true;
    } finally {
      await database.close();
    }
  }

  private note(held: ArchiveHeld): void {
    const { directory, isNoted } = this.settings;
    if (isNoted === true) noteArchived(directory, held);
  }

  private async read(): Promise<void> {
    if (this.pending.length >= PENDING_BATCHES) return;
    const { commands = BATCH_COMMANDS } = this.settings;
    try {
      const batch = await this.feed?.next(commands, this.signal);
      if (batch !== undefined) this.pending.push(batch);
    } catch (error) {
      this.closeFeed();
      throw error;
    }
  }

  /** A batch whose transaction had no answer may be in the archive, or not. */
  private resume(held: ArchiveHeld): void {
    const isKnown = this.feed !== undefined && held.batch === this.held.batch;
    const written = this.pending.findIndex((batch) => batch.held.batch === held.batch);
    if (this.feed !== undefined && written >= 0) this.pending.splice(0, written + 1);
    else if (!isKnown) {
      this.closeFeed();
      this.feed = ArchiveFeed.open(this.settings.directory, held);
    }
    this.held = held;
  }

  private closeFeed(): void {
    this.feed?.close();
    this.feed = undefined;
    this.pending.length = 0;
  }

  private async pause(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.signal }).catch(() => undefined);
  }
}

/** Of the folder or the archive, not of PostgreSQL. */
function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return (
    error instanceof ArchiveRefused ||
    error instanceof JournalError ||
    error instanceof NothingToVerify ||
    error instanceof UnknownToRelease ||
    ("syscall" in error && error.syscall === "open")
  );
}
