/**
 * Reads the archive for the lists of a core. It connects when a list goes on there; a connection that fails is
 * dropped, and the next read connects again.
 */
import type { ArchiveQuery } from "@perpgate/venue";
import type { Logger } from "pino";
import { Postgres } from "./postgres.js";

/**
 * A client waits no longer: its list ends where the store's does. The server ends the query, too: it would run on,
 * next to those of later lists.
 */
const TIMEOUTS = { connectionTimeoutMillis: 2_000, query_timeout: 5_000, statement_timeout: 5_000 };

/** Failures are a line of the log at most as often. */
const REPEAT_MS = 60_000;

export class ArchiveReads {
  private connecting: Promise<Postgres> | undefined;
  private isClosed = false;
  private saidAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly url: string,
    private readonly log: Pick<Logger, "warn">,
  ) {}

  readonly query: ArchiveQuery = async (sql) => {
    if (this.isClosed) throw new Error("the archive's reader is closed");
    this.connecting ??= Postgres.connect(this.url, TIMEOUTS);
    const { connecting } = this;
    try {
      return await (await connecting).cells(sql);
    } catch (error) {
      if (this.connecting === connecting) await this.drop();
      throw error;
    }
  };

  /** A list could not go on: it said where it ended. */
  readonly onLost = (error: unknown): void => {
    const nowMs = performance.now();
    if (nowMs - this.saidAtMs < REPEAT_MS) return;
    this.saidAtMs = nowMs;
    const reason = error instanceof Error ? error.message : String(error);
    this.log.warn(
      { reason },
      "the archive cannot be read: lists end where the history's window does",
    );
  };

  async close(): Promise<void> {
    this.isClosed = true;
    await this.drop();
  }

  private async drop(): Promise<void> {
    const { connecting } = this;
    this.connecting = undefined;
    const postgres = await connecting?.catch(() => undefined);
    // Not waited for: a server that does not answer keeps it open.
    void postgres?.close();
  }
}
