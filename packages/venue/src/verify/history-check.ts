/**
 * Compares the stored history with what the projections make of the log: every row of every table, and
 * their number. It keeps no second history: a row that is written once is compared immediately; a row
 * that changes is kept until it equals the stored one, and compared at the end.
 *
 * Rows before the store's window (history/retention.ts) may be missing; those that are there must agree.
 *
 * If the log was pruned, the replay begins at a snapshot and rows that build on earlier ones cannot be
 * computed: then it compares only the tables whose rows follow from one command, and the orders and
 * sessions that came after the snapshot.
 */
import type { SealedBlock } from "../blocks/block-header.js";
import { eachTable, TABLES, type TableName } from "../history/history-environment.js";
import type { HistoryRows } from "../history/history-rows.js";
import type { HistoryStore } from "../history/history-store.js";
import type { HistoryTable } from "../history/history-table.js";
import { groupOf, keyOf, placeOf } from "../history/keys.js";
import { type HistoryEdge, outlivesEdge, WINDOWED } from "../history/retention.js";
import {
  bytesOfWords,
  type RowOffset,
  type RowSink,
  type RowTable,
  wordsOfBytes,
} from "../history/rows.js";
import type { Applied } from "../replica.js";
import { HistoryDamaged } from "../venue-errors.js";

/** How the rows of a table are written. */
type Nature =
  /** Written once, from one command. */
  | "once"
  /** Written once, from a command and from rows before it. */
  | "derived"
  /** Rewritten; created by the command whose seq is in the key. */
  | "by_seq"
  /** Rewritten, until a row of a later time begins in its group. */
  | "timed"
  /** Rewritten. */
  | "changing";

const NATURE: Readonly<Record<TableName, Nature>> = {
  acks: "once",
  results: "once",
  blocks: "once",
  fills: "once",
  trades: "once",
  funding: "once",
  nonces: "once",
  clientIds: "once",
  payments: "once",
  ledger: "once",
  changes: "derived",
  tree: "derived",
  deposits: "derived",
  orders: "by_seq",
  sessions: "by_seq",
  positions: "changing",
  candles: "timed",
  watchers: "changing",
  votes: "changing",
  markets: "changing",
  withdrawals: "changing",
  withdrawalVotes: "changing",
};

/** Changing rows kept before those that agree are dropped. */
const SWEEP_ABOVE = 100_000;

export class HistoryCheck implements RowSink {
  /** Rows that agree, by table. */
  readonly agreeing = eachTable(() => ({ rows: 0 }));
  private readonly tables: readonly ComparedTable[];
  private readonly heldSeq: number;
  private seq = 0;
  /** The first difference of each table that has one, in the order in which they were found. */
  readonly faults = new Map<TableName, string>();
  private sweepAbove = SWEEP_ABOVE;
  private kept = 0;

  constructor(
    store: HistoryStore,
    private readonly rows: HistoryRows,
    /** The replay begins after this seq. */
    private readonly from: number,
  ) {
    this.heldSeq = store.held.position;
    this.tables = TABLES.map((name) => new ComparedTable(name, store.tables[name], store.held));
    rows.attach(this);
    rows.changes.from = store.held.changesFrom;
  }

  get rowCount(): number {
    return TABLES.reduce((sum, name) => sum + this.agreeing[name].rows, 0);
  }

  /** The first difference up to this command, or null. */
  onCommand(applied: Applied, block: number, sealed: SealedBlock | null): string | null {
    if (applied.seq > this.heldSeq) this.rows.attach(undefined);
    this.seq = applied.seq;
    this.rows.onCommand(applied, block, sealed);
    if (this.kept > this.sweepAbove) this.sweep();
    return this.firstFault;
  }

  private get firstFault(): string | null {
    const [first = null] = this.faults.values();
    return first;
  }

  private note({ name }: ComparedTable, fault: string | null): void {
    if (fault !== null && !this.faults.has(name)) this.faults.set(name, fault);
  }

  /** Call after the last command of the history; all of `faults` are known then. */
  endFault(): string | null {
    for (const table of this.tables) {
      for (const [key, value] of table.kept) {
        const fault = table.compare(Buffer.from(key, "latin1"), value);
        if (fault === null) this.agreeing[table.name].rows++;
        else this.note(table, fault);
      }
      if (this.from > 0) continue;
      const stored = table.count();
      if (stored !== table.created) {
        const counts = `${stored} rows are stored, the log makes ${table.created}`;
        this.note(table, `${table.name}: ${counts}`);
      }
    }
    return this.firstFault;
  }

  /** Rows that the log makes; of a replay that began at a snapshot those that it could compute. */
  madeRows(name: TableName): number {
    return this.from > 0 ? this.agreeing[name].rows : this.tables[TABLES.indexOf(name)]!.created;
  }

  put(table: RowTable, key: Uint8Array, value: Uint8Array): void {
    this.take(this.tables[table.number]!, Buffer.from(key), Buffer.from(value));
  }

  putWords(
    table: RowTable,
    group: number,
    place: number,
    ordinal: number,
    words: ArrayLike<number>,
    length = words.length,
  ): void {
    const value = bytesOfWords(Array.from(words).slice(0, length));
    this.take(this.tables[table.number]!, keyOf(group, place, ordinal), value);
  }

  overwrite(
    _offset: RowOffset,
    table: RowTable,
    group: number,
    place: number,
    words: ArrayLike<number>,
    ordinal = 0,
  ): void {
    this.putWords(table, group, place, ordinal, words);
  }

  private take(table: ComparedTable, key: Buffer, value: Buffer): void {
    const nature = NATURE[table.name];
    if (this.from > 0 && !this.isComputable(table.name, nature, key)) return;
    if (nature === "once" || nature === "derived") {
      if (table.isKept(key)) table.created++;
      const fault = table.compare(key, value);
      this.note(table, fault);
      if (fault === null) this.agreeing[table.name].rows++;
      return;
    }
    if (table.keep(key, value, this.seq)) this.kept++;
  }

  /** Whether a replay that began at a snapshot can compute the row. */
  private isComputable(name: TableName, nature: Nature, key: Buffer): boolean {
    // The hashes that a row of the tree builds on are compared before (pruned-blocks.ts).
    if (nature === "once" || name === "tree") return true;
    return nature === "by_seq" && seqOf(name, key) > this.from;
  }

  /** Drops rows that equal the stored ones: one that changes later is kept again. */
  private sweep(): void {
    this.kept = 0;
    for (const table of this.tables) {
      this.agreeing[table.name].rows += table.dropAgreeing();
      this.kept += table.kept.size;
    }
    this.sweepAbove = Math.max(SWEEP_ABOVE, 2 * this.kept);
  }
}

class ComparedTable {
  /** Rows that have been written at least once. */
  created = 0;
  /** The latest version of changing rows, by key in latin1. */
  readonly kept = new Map<string, Buffer>();
  /** Keys of the `changing` rows written so far. */
  private readonly seen = new Set<string>();
  /** The newest time of each group of `timed` rows. */
  private readonly newest = new Map<number, number>();

  constructor(
    readonly name: TableName,
    readonly stored: HistoryTable,
    private readonly edge: HistoryEdge,
  ) {}

  /** Whether the row is of the store's window. */
  isKept(key: Buffer): boolean {
    const place = WINDOWED[this.name];
    return place === undefined || place.seqOf(key) >= this.edge.keptFrom;
  }

  /** Rows on disk that are of the window. */
  count(): number {
    const place = WINDOWED[this.name];
    return place === undefined
      ? this.stored.count()
      : this.stored.count(`${place.column} >= ${this.edge.keptFrom}`);
  }

  /** Returns whether one more row is kept. */
  keep(key: Buffer, value: Buffer, seq: number): boolean {
    const text = key.toString("latin1");
    if (NATURE[this.name] === "by_seq") {
      const isNew = seqOf(this.name, key) === seq && !this.kept.has(text);
      if (isNew && this.isKept(key)) this.created++;
    } else if (NATURE[this.name] === "timed") {
      if (placeOf(key) > (this.newest.get(groupOf(key)) ?? -1)) {
        this.newest.set(groupOf(key), placeOf(key));
        this.created++;
      }
    } else if (!this.seen.has(text)) {
      this.seen.add(text);
      this.created++;
    }
    const before = this.kept.size;
    this.kept.set(text, value);
    return this.kept.size > before;
  }

  /** Of a row before the window. */
  private isNeeded(value: Buffer): boolean {
    return this.name === "orders" && outlivesEdge(wordsOfBytes(value), this.edge);
  }

  dropAgreeing(): number {
    let dropped = 0;
    for (const [key, value] of this.kept) {
      if (this.compare(Buffer.from(key, "latin1"), value) !== null) continue;
      this.kept.delete(key);
      dropped++;
    }
    return dropped;
  }

  compare(key: Buffer, value: Buffer): string | null {
    const row = `${this.name}, row ${groupOf(key)}/${placeOf(key)}`;
    let stored: Buffer | undefined;
    try {
      stored = this.stored.get(key);
    } catch (error) {
      if (error instanceof HistoryDamaged) return `${row}: ${error.message}`;
      throw error;
    }
    if (stored?.equals(value) === true) return null;
    if (stored === undefined && !this.isKept(key) && !this.isNeeded(value)) return null;
    return stored === undefined
      ? `${row}: missing from the history`
      : `${row}: the history holds something else than the log makes`;
  }
}

/** Seq of the command that created a row: the place in an order's key, the group in a session's. */
function seqOf(name: TableName, key: Buffer): number {
  return name === "orders" ? placeOf(key) : groupOf(key);
}
