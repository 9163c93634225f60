/**
 * `perpgate archive`: keeps an archive in PostgreSQL up to date with the log of a data folder, until a
 * signal. The venue has no part in it, and does not wait for it.
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
  NothingToVerify,
  UnknownToRelease,
} from "@perpgate/venue";
import { isSystemError, StartError, UsageError } from "../cli/start-error.js";
import { dataFolderOf } from "../operator/data-option.js";
import { endSteps, showStep } from "../operator/verify.js";
import { readConfiguration } from "../serve/configuration.js";
import { onStopSignal } from "../serve/stop-signals.js";
import { ArchiveDatabase } from "./archive-database.js";

export interface ArchiveOptions {
  readonly postgres?: string;
  readonly config?: string;
  readonly data?: string;
  readonly once?: boolean;
  /** Of a transaction, about. */
  readonly commands?: number;
  readonly json?: boolean;
}

/** Commands of a transaction: larger ones delay readers of the archive, smaller ones cost more. */
const BATCH_COMMANDS = 10_000;
const POLL_MS = 200;
const RETRY_MS = 1_000;

export async function archive(options: ArchiveOptions): Promise<number> {
  const stopped = new AbortController();
  onStopSignal(() => stopped.abort());
  const held = await new Indexer(addressOf(options), options, stopped.signal).run();
  endSteps();
  const text = `archived up to position ${held.position}`;
  process.stdout.write(`${options.json === true ? JSON.stringify(held) : text}\n`);
  return 0;
}

/** @throws {UsageError} */
function addressOf({ postgres, config }: ArchiveOptions): string {
  if (postgres !== undefined) return postgres;
  const settings = readConfiguration(config === undefined ? {} : { config }, process.env);
  const address = settings.archive?.postgres;
  if (address !== undefined) return address;
  throw new UsageError("give --postgres URL, or archive.postgres in a configuration");
}

class Indexer {
  private held: ArchiveHeld = { position: 0, batch: 0, record: 0 };
  private feed: ArchiveFeed | undefined;
  /** Read, and not known to be in the archive. */
  private pending: ArchiveBatch | undefined;
  private readonly directory: string;

  constructor(
    private readonly postgres: string,
    private readonly options: ArchiveOptions,
    private readonly signal: AbortSignal,
  ) {
    this.directory = dataFolderOf(options);
  }

  /** Until the signal, or with `once` the end of the log. */
  async run(): Promise<ArchiveHeld> {
    for (;;) {
      try {
        if (await this.follow()) return this.held;
      } catch (error) {
        if (isRefusal(error)) throw new StartError(error.message);
        // Whatever PostgreSQL says: its restart, a lock, or a full disk may be over soon.
        const reason = error instanceof Error ? error.message : String(error);
        process.stderr.write(`the archive cannot be written, trying again: ${reason}\n`);
      }
      if (this.signal.aborted) return this.held;
      await this.pause(RETRY_MS);
    }
  }

  /** Returns whether it is done. */
  private async follow(): Promise<boolean> {
    const { directory, options } = this;
    const database = await ArchiveDatabase.open(this.postgres, ArchiveFeed.logOf(directory));
    if (database === undefined) {
      showStep("another process feeds the archive");
      return false;
    }
    try {
      await this.resume(await database.held());
      while (!this.signal.aborted) {
        this.pending ??= this.read();
        if (this.pending === undefined) {
          if (options.once === true) return true;
          await this.pause(POLL_MS);
          continue;
        }
        await database.write(this.held, this.pending);
        this.held = this.pending.held;
        this.pending = undefined;
        showStep(`archived up to position ${this.held.position}`);
      }
      return true;
    } finally {
      await database.close();
    }
  }

  private read(): ArchiveBatch | undefined {
    try {
      return this.feed?.next(this.options.commands ?? BATCH_COMMANDS);
    } catch (error) {
      this.closeFeed();
      throw error;
    }
  }

  /** A batch whose transaction had no answer may be in the archive, or not. */
  private async resume(held: ArchiveHeld): Promise<void> {
    const isKnown = this.feed !== undefined && held.batch === this.held.batch;
    if (this.feed !== undefined && held.batch === this.pending?.held.batch)
      this.pending = undefined;
    else if (!isKnown) {
      this.closeFeed();
      this.feed = ArchiveFeed.open(this.directory, held);
    }
    this.held = held;
  }

  private closeFeed(): void {
    this.feed?.close();
    this.feed = undefined;
    this.pending = undefined;
  }

  private async pause(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.signal }).catch(() => undefined);
  }
}

/** What no later try changes. */
function isRefusal(error: unknown): error is Error {
  return (
    error instanceof ArchiveRefused ||
    error instanceof JournalError ||
    error instanceof NothingToVerify ||
    error instanceof UnknownToRelease ||
    (isSystemError(error) && "syscall" in error && error.syscall === "open")
  );
}
