/**
 * All of the stored history against what the projections make of the log: every row of every table,
 * and how many there are. Comes in: applied commands from the replay, in order. It keeps no second
 * history: a row that is written once is compared at once, with the position that made it; a row
 * that changes is kept until it is what the store holds, and compared at the end.
 *
 * Where the log was pruned the replay begins at a snapshot, and rows that go on from earlier ones
 * cannot be computed: then only the tables are compared whose rows follow from one command, and the
 * orders and sessions that came after the snapshot.
 */
import type { SealedBlock } from "../blocks/block-header.js";
import { eachTable, TABLES, type TableName } from "../history/history-environment.js";
import { HistoryRows, type HistorySurroundings } from "../history/history-rows.js";
import type { HistoryStore } from "../history/history-store.js";
import type { HistoryTable } from "../history/history-table.js";
import { groupOf, keyOf, placeOf } from "../history/keys.js";
import type { RowSink, RowTable, Spot } from "../history/rows.js";
import { bytesOfWords } from "../history/words.js";
import type { Applied } from "../replica.js";

/** Rows of a table, by how they come about. */
type Nature =
  /** Written once, from one command. */
  | "once"
  /** Written once, from a command and from rows before it. */
  | "derived"
  /** Written again and again; begun by the command whose position its key holds. */
  | "by_seq"
  /** Written again and again. */
  | "changing";

const NATURE: Readonly<Record<TableName, Nature>> = {
  acks: "once",
  blocks: "once",
  fills: "once",
  trades: "once",
  funding: "once",
  nonces: "once",
  changes: "derived",
  deposits: "derived",
  orders: "by_seq",
  sessions: "by_seq",
  positions: "changing",
  candles: "changing",
  watchers: "changing",
  votes: "changing",
};

/** Changing rows that are kept before those that agree by now are dropped. */
const SWEEP_ABOVE = 100_000;

export class HistoryCheck implements RowSink {
  /** Rows that were compared and agree, by table. */
  readonly agreeing = eachTable(() => ({ rows: 0 }));
  private readonly rows: HistoryRows;
  private readonly tables: readonly ComparedTable[];
  private readonly heldSeq: number;
  private seq = 0;
  private fault: string | null = null;
  private sweepAbove = SWEEP_ABOVE;
  private kept = 0;

  constructor(
    store: HistoryStore,
    around: HistorySurroundings,
    /** The position that the replay begins after. */
    private readonly from: number,
  ) {
    this.heldSeq = store.held.position;
    const tables = eachTable((name) => new ComparedTable(name, store.tables[name], from === 0));
    this.tables = TABLES.map((name) => tables[name]);
    this.rows = new HistoryRows(tables, this, around);
  }

  get rowCount(): number {
    return TABLES.reduce((sum, name) => sum + this.agreeing[name].rows, 0);
  }

  /** What differs first at this command, or null. */
  onCommand(applied: Applied, block: number, sealed: SealedBlock | null): string | null {
    if (applied.seq > this.heldSeq) return null;
    this.seq = applied.seq;
    this.rows.onCommand(applied, block, sealed);
    if (this.kept > this.sweepAbove) this.sweep();
    return this.fault;
  }

  /** After the last command that the history holds. */
  endFault(): string | null {
    for (const table of this.tables) {
      for (const [key, value] of table.kept) {
        const bytes = Buffer.from(key, "latin1");
        const fault = table.compare(bytes, value);
        if (fault !== null) return fault;
        this.agreeing[table.name].rows++;
      }
      if (this.from > 0) continue;
      const stored = table.stored.count();
      if (stored !== table.begun) {
        return `${table.name}: ${stored} rows are stored, the log makes ${table.begun}`;
      }
    }
    return null;
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

  putAgain(
    _spot: Spot,
    table: RowTable,
    group: number,
    place: number,
    words: ArrayLike<number>,
  ): void {
    this.putWords(table, group, place, 0, words);
  }

  private take(table: ComparedTable, key: Buffer, value: Buffer): void {
    const nature = NATURE[table.name];
    if (this.from > 0 && !this.isComputable(table.name, nature, key)) return;
    if (nature === "once" || nature === "derived") {
      table.begun++;
      this.fault ??= table.compare(key, value);
      this.agreeing[table.name].rows++;
      return;
    }
    if (table.keep(key, value, this.seq)) this.kept++;
  }

  /** Whether a replay that began at a snapshot knows the whole row. */
  private isComputable(name: TableName, nature: Nature, key: Buffer): boolean {
    if (nature === "once") return true;
    return nature === "by_seq" && seqOf(name, key) > this.from;
  }

  /** Drops rows that are what the store holds: if one changes later, it comes again. */
  private sweep(): void {
    this.kept = 0;
    for (const table of this.tables) {
      this.agreeing[table.name].rows += table.dropAgreeing();
      this.kept += table.kept.size;
    }
    this.sweepAbove = Math.max(SWEEP_ABOVE, 2 * this.kept);
  }
}

class ComparedTable implements RowTable {
  /** Rows that have been written at least once. */
  begun = 0;
  /** The latest of changing rows, by key in latin1. */
  readonly kept = new Map<string, Buffer>();
  /** Keys of changing rows whose keys do not say when they began. */
  private readonly seen = new Set<string>();

  constructor(
    readonly name: TableName,
    readonly stored: HistoryTable,
    /** Whether the replay began with the log: then only what it has written is there. */
    private readonly isWhole: boolean,
  ) {}

  get number(): number {
    return this.stored.number;
  }

  get(key: Buffer): Buffer | undefined {
    const text = key.toString("latin1");
    const kept = this.kept.get(text);
    if (kept !== undefined) return kept;
    const isUnwritten = this.isWhole && NATURE[this.name] === "changing" && !this.seen.has(text);
    // A row that is kept no longer was dropped because it is what the store holds.
    return isUnwritten ? undefined : this.stored.get(key);
  }

  /** Returns whether one more row is kept. */
  keep(key: Buffer, value: Buffer, seq: number): boolean {
    const text = key.toString("latin1");
    if (NATURE[this.name] === "by_seq") {
      if (seqOf(this.name, key) === seq && !this.kept.has(text)) this.begun++;
    } else if (!this.seen.has(text)) {
      this.seen.add(text);
      this.begun++;
    }
    const before = this.kept.size;
    this.kept.set(text, value);
    return this.kept.size > before;
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
    const stored = this.stored.get(key);
    if (stored?.equals(value) === true) return null;
    const row = `${this.name}, row ${groupOf(key)}/${placeOf(key)}`;
    return stored === undefined
      ? `${row}: missing from the history`
      : `${row}: the history holds something else than the log makes`;
  }
}

/** The command that began a row: an order's key holds its id second, a session's its number first. */
function seqOf(name: TableName, key: Buffer): number {
  return name === "orders" ? placeOf(key) : groupOf(key);
}
