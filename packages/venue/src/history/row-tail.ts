/**
 * Rows of the last commands in a venue whose rows another thread makes: those that a request must find at once,
 * in the turn in which its command is applied. They are kept until the thread has made them.
 *
 * It takes what is rare or small: acknowledgements, results, orders that have ended, blocks, candles, deposits,
 * withdrawals and votes. Fills, ledger, changes and lists of orders are read from what the thread has made.
 */
import { STATUS_PENDING, STATUS_RESTING } from "@perpgate/engine";
import { sha256 } from "../blocks/merkle.js";
import type { AckRow } from "./ack-row.js";
import { TABLES, type TableName } from "./history-environment.js";
import { ORDER_ROW } from "./order-row.js";
import type { TakenTables } from "./row-outlet.js";
import type { RowTable } from "./rows.js";
import { Slice, SliceSink } from "./slice.js";

const TAKEN: ReadonlySet<TableName> = new Set([
  "blocks",
  "candles",
  "funding",
  "orders",
  "deposits",
  "watchers",
  "votes",
  "results",
  "tree",
  "clientIds",
  "withdrawals",
  "withdrawalVotes",
]);
export const TAIL_TABLES: TakenTables = TABLES.map((name) => TAKEN.has(name));
const ORDERS = TABLES.indexOf("orders");
const ENTRIES_PER_SLICE = 2_048;
const SPARE_SLICES = 4;

interface KeptAck {
  readonly seq: number;
  readonly leaf: Buffer;
  readonly signed: Buffer;
  readonly timeMs: number;
}

export class RowTail extends SliceSink {
  /** The oldest first; the last one is open. */
  readonly slices: Slice[] = [];
  /** The last command of each slice but the open one. */
  private readonly ends: number[] = [];
  /** Ascending. Not a Map, whose old tables keep what was deleted until the next full garbage collection. */
  private readonly acks: KeptAck[] = [];
  private readonly spare: Slice[] = [];

  constructor(private readonly onSlices: () => void) {
    super();
    this.slices.push(new Slice(1));
  }

  putAck(seq: number, leaf: Uint8Array, signed: Uint8Array, timeMs: number): void {
    this.acks.push({ seq, leaf: Buffer.from(leaf), signed: Buffer.from(signed), timeMs });
  }

  ack(seq: number): AckRow | undefined {
    return this.acksBetween(seq, seq, 1)[0];
  }

  acksBetween(first: number, last: number, limit: number): AckRow[] {
    const from = this.acksBelow(first);
    return this.acks.slice(from, Math.min(this.acksBelow(last + 1), from + limit)).map(rowOf);
  }

  /** How many acknowledgements are of commands before this one. */
  private acksBelow(seq: number): number {
    let low = 0;
    let high = this.acks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.acks[middle]!.seq < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  endCommand(seq: number): void {
    if (this.open.count >= ENTRIES_PER_SLICE) this.close(seq);
  }

  /** The rows of all commands up to `made` are found elsewhere; `seq` is the last command. */
  forget(made: number, seq: number): void {
    this.acks.splice(0, this.acksBelow(made + 1));
    let count = 0;
    while (count < this.ends.length && this.ends[count]! <= made) count++;
    this.ends.splice(0, count);
    this.spare.push(...this.slices.splice(0, count));
    this.spare.splice(SPARE_SLICES);
    // So that it is forgotten the next time.
    if (this.open.count > 0) this.close(seq);
    else this.onSlices();
  }

  protected get open(): Slice {
    return this.slices.at(-1)!;
  }

  /** The projection has orders that are open. */
  protected override isLeftOut({ number }: RowTable, words: ArrayLike<number>): boolean {
    return number === ORDERS && isOpen(words[ORDER_ROW.STATUS]);
  }

  private close(seq: number): void {
    const { number } = this.open;
    this.ends.push(seq);
    const next = this.spare.pop() ?? new Slice(number + 1);
    next.begin(number + 1);
    this.slices.push(next);
    this.onSlices();
  }
}

/** The digest is made for those that are read. */
function rowOf({ seq, leaf, signed, timeMs }: KeptAck): AckRow {
  return { seq, leaf, digest: sha256(signed), timeMs };
}

function isOpen(status: number | undefined): boolean {
  return status === STATUS_RESTING || status === STATUS_PENDING;
}
