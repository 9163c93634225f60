/** `pg` and `pg-copy-streams`, as far as the archive uses them. */
import { createRequire } from "node:module";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";

export type Row = Readonly<Record<string, unknown>>;

type Cell = number | string | Uint8Array | null;

/** Rows as arrays. */
interface CellsQuery {
  readonly text: string;
  readonly rowMode: "array";
  readonly types: TypeParsers;
}

interface TypeParsers {
  getTypeParser(type: number, format?: string): (text: string) => unknown;
}

/** `bigint`, which `pg` leaves as text: those of the archive are safe integers. */
const INT8 = 20;

/** Of a connection, in milliseconds; those that are not given do not end. */
interface Timeouts {
  readonly connectionTimeoutMillis: number;
  readonly query_timeout?: number;
  readonly statement_timeout?: number;
  readonly lock_timeout?: number;
}

/** A host that vanished is found out while nothing is sent, too. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

interface Client {
  connect(): Promise<void>;
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly Row[] }>;
  query(copy: Writable): Writable;
  query(cells: CellsQuery): Promise<{ readonly rows: readonly Cell[][] }>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): void;
  readonly connection: { readonly stream: { destroy(error: Error): void } };
}

interface Pg {
  readonly Client: new (
    options: { readonly connectionString: string } & typeof KEEP_ALIVE & Partial<Timeouts>,
  ) => Client;
  readonly types: TypeParsers;
}

interface CopyStreams {
  from(text: string): Writable;
}

/** Loaded by the commands that need them: most venues have no archive. */
const load = createRequire(import.meta.url);

export class Postgres {
  /** The connection was lost. */
  private lost: Error | undefined;

  private constructor(
    private readonly client: Client,
    private readonly copyFrom: CopyStreams["from"],
    private readonly parsers: TypeParsers,
    private readonly answerMs: number | undefined,
  ) {
    // Without a listener a server that ends would end the process.
    client.on("error", (error) => {
      this.lost = error;
    });
  }

  /** `answerMs`: without an answer for so long the connection is given up. */
  static async connect(
    connectionString: string,
    timeouts?: Timeouts,
    answerMs?: number,
  ): Promise<Postgres> {
    const { Client: PgClient, types }: Pg = load("pg");
    const { from }: CopyStreams = load("pg-copy-streams");
    const client = new PgClient({ connectionString, ...KEEP_ALIVE, ...timeouts });
    const parsers: TypeParsers = {
      getTypeParser: (type, format) => (type === INT8 ? Number : types.getTypeParser(type, format)),
    };
    const postgres = new Postgres(client, from, parsers, answerMs);
    await client.connect();
    return postgres;
  }

  /** The server has ended the connection. */
  get isLost(): boolean {
    return this.lost !== undefined;
  }

  async query(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    if (this.lost !== undefined) throw this.lost;
    return (await this.answered(this.client.query(text, values))).rows;
  }

  /** Rows as arrays, with integers as numbers. */
  async cells(text: string): Promise<readonly (readonly Cell[])[]> {
    if (this.lost !== undefined) throw this.lost;
    const query = { text, rowMode: "array", types: this.parsers } as const;
    return (await this.answered(this.client.query(query))).rows;
  }

  /** `lines`: rows in the text format of COPY. */
  async copy(into: string, lines: Iterable<string>): Promise<void> {
    if (this.lost !== undefined) throw this.lost;
    const copy = this.client.query(this.copyFrom(`COPY ${into} FROM STDIN`));
    await this.answered(pipeline(Readable.from(lines), copy));
  }

  /** Ends the connection if there is no answer in time: what waits rejects, and nothing hangs. */
  private async answered<T>(work: Promise<T>): Promise<T> {
    const { answerMs, client } = this;
    if (answerMs === undefined) return work;
    const timer = setTimeout(() => {
      const error = new Error(`PostgreSQL has not answered for ${answerMs} ms`);
      this.lost = error;
      client.connection.stream.destroy(error);
    }, answerMs);
    return work.finally(() => clearTimeout(timer));
  }

  /** Runs `work` in a transaction. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    await this.query("BEGIN");
    try {
      const result = await work();
      await this.query("COMMIT");
      return result;
    } catch (error) {
      await this.query("ROLLBACK").catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}
