/**
 * Writes slices to the store, and snapshots next to the log, in the writing thread or in the caller's. Slices arrive in order; all that
 * arrive before the next transaction is due share it, so a slow disk makes transactions larger, not the queue
 * longer. Each transaction also writes the progress it reaches, so a crash never leaves half a command.
 *
 * In its own thread it puts rows in short turns, unless they are so many, or awaited, that it has to go on.
 *
 * While another tool holds the write lock the slices wait. Any other failure is reported once, and nothing is
 * written after it: a later slice without an earlier one would be an undetected gap.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { ExitDeadline } from "@perpgate/journal";
import { SnapshotWriter, type TakenSnapshot } from "../../checkpoint/snapshot-writer.js";
import {
  type Held,
  openEnvironment,
  readHeldRow,
  TABLES,
  writeHeld,
} from "../history-environment.js";
import { CODECS, type RowCodec } from "../row-codecs.js";
import { eachEntry } from "../slice.js";
import {
  type Database,
  inTransaction,
  isBusy,
  prepare,
  STORE_FILE,
  type Statement,
} from "../sqlite.js";
import type { FromWriter, ThreadData, ToWriter, WriteSlice } from "./messages.js";
import { OrderWriter } from "./order-writer.js";
import { OutboxWriter } from "./outbox-writer.js";
import { BlockingPacer } from "./pacer.js";
import { RowSweeper } from "./row-sweeper.js";

/** Between two transactions, unless a flush is requested: the log's syncs queue behind each. */
const MIN_INTERVAL_MS = 500;
/** After a lock of another tool has refused a transaction, which waited for it before. */
const RETRY_MS = 50;
/** How often `close` tries; what is not written then is made from the log by the next start. */
const CLOSE_TRIES = 20;
/** Bounds a transaction during a replay. */
const SLICES_PER_TRANSACTION = 64;

/** Of a transaction that is spread by rests: more than half a second has at the highest load. */
const MOST_PACED_BYTES = 2 * 1024 * 1024;
/** Rows between two looks at the clock. */
const LOOK_EVERY = 16;
/**
 * Rows before the window that a transaction drops: more than it brings, so that dropping keeps up with
 * trading, and few enough for a flush.
 */
const SWEPT_AT_LEAST = 500;
const SWEPT_PER_ROW = 2;

type PutRow = (key: Buffer, value: Buffer) => void;

export class StoreWriter {
  private readonly database: Database;
  /** By table number. */
  private readonly tables: readonly PutRow[];
  private readonly outbox: OutboxWriter;
  private readonly snapshots: SnapshotWriter | undefined;
  private readonly walFile: string;
  private waiting: WriteSlice[] = [];
  private timer: NodeJS.Timeout | undefined;
  private begunAt = Number.NEGATIVE_INFINITY;
  private isFlushing = false;
  private hasFailed = false;
  private readonly pacer: BlockingPacer | undefined;
  private readonly sweeper: RowSweeper;
  /** Of the last transaction; undefined before there was one. */
  private held: Held | undefined;
  private readonly pages: readonly Statement[];

  constructor(
    private readonly data: ThreadData,
    private readonly post: (message: FromWriter) => void,
  ) {
    this.database = openEnvironment(data.directory, false);
    const orders = new OrderWriter(this.database);
    this.outbox = new OutboxWriter(this.database, data.outboxCommands);
    this.tables = TABLES.map((name) => {
      if (name === "changes") return (key, value) => this.outbox.put(key, value);
      if (name === "acks") return (key, value) => orders.putAck(key, value);
      if (name === "orders") return (_, value) => orders.putOrder(value);
      return writing(this.database, CODECS[name]);
    });
    const { snapshots, logId, hurry } = data;
    if (hurry !== undefined) this.pacer = new BlockingPacer(hurry);
    if (snapshots !== undefined) {
      this.snapshots = new SnapshotWriter(snapshots, Buffer.from(logId, "hex"));
    }
    this.held = readHeldRow(this.database);
    this.sweeper = new RowSweeper(this.database);
    const pages = ["page_size", "page_count", "freelist_count"];
    this.pages = pages.map((name) => prepare(this.database, `PRAGMA ${name}`));
    this.walFile = join(data.directory, `${STORE_FILE}-wal`);
  }

  take(message: ToWriter): void {
    if (this.hasFailed && message.kind !== "close") return;
    switch (message.kind) {
      case "write": {
        this.waiting.push(message);
        // A timer even if it is due already: the messages that arrived during a slow transaction are
        // read first, otherwise each of their slices would get its own slow transaction.
        const isDue = this.waiting.length % SLICES_PER_TRANSACTION === 0;
        this.schedule(isDue ? 0 : this.begunAt + MIN_INTERVAL_MS - performance.now());
        return;
      }
      case "snapshot":
        this.writeSnapshot(message.snapshot);
        return;
      case "flush":
        this.isFlushing = true;
        this.pacer?.calm();
        this.writeWaiting();
        return;
      case "close":
        this.isFlushing = true;
        for (let i = 0; i < CLOSE_TRIES && this.waiting.length > 0; i++) this.writeWaiting();
        this.stop();
    }
  }

  /** Writes nothing more. */
  stop(): void {
    clearTimeout(this.timer);
    this.hasFailed = true;
    this.snapshots?.close();
    if (this.database.isOpen) this.database.close();
  }

  private schedule(afterMs: number): void {
    if (afterMs <= 0) clearTimeout(this.timer);
    if (afterMs <= 0 || this.timer === undefined) {
      this.timer = setTimeout(() => this.writeWaiting(), Math.max(0, afterMs));
    }
  }

  private writeWaiting(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.begunAt = performance.now();
    if (this.waiting.length === 0) this.sweepAlone();
    while (this.waiting.length > 0 && !this.hasFailed) {
      const slices = this.waiting.slice(0, SLICES_PER_TRANSACTION);
      if (!this.write(slices)) return;
      this.waiting = this.waiting.slice(slices.length);
      if (!this.isFlushing && this.waiting.length < SLICES_PER_TRANSACTION) break;
    }
    if (this.waiting.length > 0) this.schedule(MIN_INTERVAL_MS);
    else {
      this.isFlushing = false;
      this.sweepLater();
    }
  }

  /** Rows before the window go with the rows of a transaction, and where none come in one of their own. */
  private sweepLater(): void {
    const { held } = this;
    if (this.hasFailed || held === undefined || !this.sweeper.isBehind(held)) return;
    this.schedule(MIN_INTERVAL_MS);
  }

  private sweepAlone(): void {
    const { held, pacer } = this;
    if (this.hasFailed || held === undefined || !this.sweeper.isBehind(held)) return;
    this.transact(() => {
      pacer?.begin();
      this.sweeper.step(held, SWEPT_AT_LEAST, () => pacer?.pause());
    });
  }

  /** Returns whether they are on disk. */
  private write(slices: readonly WriteSlice[]): boolean {
    const last = slices.at(-1);
    if (last === undefined) return true;
    const length = slices.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const isPaced = !this.isFlushing && length <= MOST_PACED_BYTES;
    const pacer = isPaced ? this.pacer : undefined;
    const isWritten = this.transact(() => {
      pacer?.begin();
      this.outbox.beginTransaction(this.held?.position ?? 0, last.held.position);
      let rows = 0;
      for (const { bytes } of slices) rows += this.put(bytes, pacer);
      writeHeld(this.database, this.data.logId, last.held);
      const most = Math.max(SWEPT_AT_LEAST, SWEPT_PER_ROW * rows);
      this.sweeper.step(last.held, most, () => pacer?.pause());
    });
    if (!isWritten) return false;
    this.held = last.held;
    const [size = 0, count = 0, free = 0] = this.pages.map((each) => Number(each.get()?.[0]));
    const stored = { bytes: size * (count - free), sweptTo: this.sweeper.sweptTo };
    const walBytes = sizeOf(this.walFile);
    this.post({ kind: "written", number: last.number, walBytes, stored });
    return true;
  }

  /** Returns whether it is committed; it is tried again where another tool has locked the store. */
  private transact(work: () => void): boolean {
    try {
      inTransaction(this.database, work);
      return true;
    } catch (error) {
      this.sweeper.restart();
      if (isBusy(error)) this.schedule(RETRY_MS);
      else this.fail(error);
      return false;
    }
  }

  private writeSnapshot(snapshot: TakenSnapshot): void {
    try {
      const outcome = this.snapshots?.write(snapshot);
      if (outcome !== undefined) this.post(outcome);
    } catch (error) {
      this.fail(error);
    }
  }

  private put(bytes: Uint8Array, pacer: BlockingPacer | undefined): number {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let count = 0;
    eachEntry(buffer, (table, key, value) => {
      this.tables[table]!(key, value);
      if (++count % LOOK_EVERY === 0) pacer?.pause();
    });
    return count;
  }

  private fail(error: unknown): void {
    this.hasFailed = true;
    this.waiting = [];
    const message = error instanceof Error ? error.message : String(error);
    // Before the message: the main thread may be blocked and never read it.
    if (this.data.exitDeadline !== undefined) {
      new ExitDeadline(this.data.exitDeadline).fail(`the history cannot be written: ${message}`);
    }
    this.post({ kind: "failed", message });
  }
}

function writing(database: Database, codec: RowCodec): PutRow {
  if (codec.table === null) return () => undefined;
  const columns = prepare(database, `PRAGMA table_info(${codec.table})`).all();
  const marks = columns.map(() => "?").join(", ");
  const changing = columns.filter(([, , , , , key]) => key === 0);
  const set = changing.map(([, name]) => `${name} = excluded.${name}`).join(", ");
  const update = set === "" ? "NOTHING" : `UPDATE SET ${set}`;
  const sql = `INSERT INTO ${codec.table} VALUES (${marks}) ON CONFLICT DO ${update}`;
  const insert = prepare(database, sql);
  return (key, value) => insert.run(...codec.cells(key, value));
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
