/**
 * Reads the archive for the lists of a core, over a few connections, of which a reader has one at a time: slow
 * lists of one account do not hold up those of others. It connects when a list goes on there; a connection that
 * fails is dropped, and the next read makes another.
 */
import { type ArchiveQuery, PUBLIC_READER } from "@perpgate/venue";
import type { Logger } from "pino";
import { Postgres } from "./postgres.js";

/**
 * A client waits no longer: its list ends where the store's does. The server ends the query, too: it would run on,
 * next to those of later lists.
 */
const TIMEOUTS = { connectionTimeoutMillis: 2_000, query_timeout: 5_000, statement_timeout: 5_000 };
const CONNECTIONS = 4;
/** Of them for public lists, which any client reads. */
const PUBLIC_CONNECTIONS = 2;
/** For a connection. */
const WAIT_MS = 5_000;

/** Failures are a line of the log at most as often. */
const REPEAT_MS = 60_000;

interface Waiter {
  readonly reader: number;
  readonly timer: NodeJS.Timeout;
  readonly begin: () => void;
  readonly refuse: (reason: Error) => void;
}

export class ArchiveReads {
  private readonly idle: Postgres[] = [];
  /** Connections that each reader uses now, and all together. */
  private readonly used = new Map<number, number>();
  private count = 0;
  /** In the order in which they came. */
  private waiting: Waiter[] = [];
  private isClosed = false;
  private saidAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly url: string,
    private readonly log: Pick<Logger, "warn">,
  ) {}

  readonly query: ArchiveQuery = async (sql, reader) => {
    await this.turn(reader);
    try {
      return await this.read(sql);
    } finally {
      this.end(reader);
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

  /** Ends what waits; what runs ends within its time. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const { timer, refuse } of this.waiting.splice(0)) {
      clearTimeout(timer);
      refuse(closed());
    }
    await Promise.all(this.idle.splice(0).map((postgres) => postgres.close()));
  }

  private async read(sql: string): ReturnType<ArchiveQuery> {
    if (this.isClosed) throw closed();
    const postgres = this.idleOne() ?? (await Postgres.connect(this.url, TIMEOUTS));
    try {
      const rows = await postgres.cells(sql);
      if (this.isClosed) void postgres.close();
      else this.idle.push(postgres);
      return rows;
    } catch (error) {
      // Not waited for: a server that does not answer keeps it open.
      void postgres.close();
      throw error;
    }
  }

  private idleOne(): Postgres | undefined {
    for (;;) {
      const postgres = this.idle.pop();
      if (postgres?.isLost !== true) return postgres;
      void postgres.close();
    }
  }

  /** Resolves once the reader may use a connection. */
  private async turn(reader: number): Promise<void> {
    if (this.isClosed) throw closed();
    if (this.mayBegin(reader)) this.begin(reader);
    else {
      await new Promise<void>((resolve, reject) => {
        const waiter: Waiter = {
          reader,
          timer: setTimeout(() => {
            this.waiting = this.waiting.filter((other) => other !== waiter);
            reject(new Error("all connections to the archive are in use"));
          }, WAIT_MS),
          begin: resolve,
          refuse: reject,
        };
        this.waiting.push(waiter);
      });
    }
  }

  private mayBegin(reader: number): boolean {
    const most = reader === PUBLIC_READER ? PUBLIC_CONNECTIONS : 1;
    return this.count < CONNECTIONS && (this.used.get(reader) ?? 0) < most;
  }

  private begin(reader: number): void {
    this.count++;
    this.used.set(reader, (this.used.get(reader) ?? 0) + 1);
  }

  /** The first that may begin now does. */
  private end(reader: number): void {
    this.count--;
    const left = (this.used.get(reader) ?? 0) - 1;
    if (left > 0) this.used.set(reader, left);
    else this.used.delete(reader);
    const at = this.waiting.findIndex((waiter) => this.mayBegin(waiter.reader));
    if (at < 0) return;
    const [next] = this.waiting.splice(at, 1);
    if (next === undefined) return;
    clearTimeout(next.timer);
    this.begin(next.reader);
    next.begin();
  }
}

function closed(): Error {
  return new Error("the archive's reader is closed");
}
