/** `pg` and `pg-copy-streams`, as far as the archive uses them. */
import { createRequire } from "node:module";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";

export type Row = Readonly<Record<string, unknown>>;

interface Client {
  connect(): Promise<void>;
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly Row[] }>;
  query(copy: Writable): Writable;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): void;
}

interface Pg {
  readonly Client: new (options: { readonly connectionString: string }) => Client;
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
  ) {
    // Without a listener a server that ends would end the process.
    client.on("error", (error) => {
      this.lost = error;
    });
  }

  static async connect(connectionString: string): Promise<Postgres> {
    const { Client: PgClient }: Pg = load("pg");
    const { from }: CopyStreams = load("pg-copy-streams");
    const client = new PgClient({ connectionString });
    const postgres = new Postgres(client, from);
    await client.connect();
    return postgres;
  }

  async query(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    if (this.lost !== undefined) throw this.lost;
    return (await this.client.query(text, values)).rows;
  }

  /** `lines`: rows in the text format of COPY. */
  async copy(into: string, lines: Iterable<string>): Promise<void> {
    if (this.lost !== undefined) throw this.lost;
    await pipeline(
      Readable.from(lines),
      this.client.query(this.copyFrom(`COPY ${into} FROM STDIN`)),
    );
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
