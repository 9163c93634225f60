/**
 * The window of the history: rows of the last days stay in the store, older ones are dropped.
 *
 * The window begins with a command, and its rows and those of all later commands are there. Reads end at that
 * edge, so rows before it may be dropped at any pace (thread/row-sweeper.ts). Of the tables named here only
 * those rows; blocks, hashes of the tree, sessions, positions, deposits, withdrawals, candles and funding rates
 * stay. Orders stay until they have ended before the window.
 */
import { STATUS_PENDING, STATUS_RESTING } from "@perpgate/engine";
import { type ArchiveHeld, archivedTo } from "../archive/archive-note.js";
import type { SealedBlock } from "../blocks/block-header.js";
import { type Held, TABLES, type TableName } from "./history-environment.js";
import { groupOf, lastOf, placeOf } from "./keys.js";
import { ORDER_ROW } from "./order-row.js";
import type { TakenTables } from "./row-outlet.js";
import { type BlockTimes, firstBlockWhere } from "./row-pages.js";

export interface RetentionOptions {
  /** How far the window reaches back, by the log's time. */
  readonly hotMs: number;
  /** Above which it gets shorter than that; of the rows in the store. */
  readonly maxBytes?: number | undefined;
  /** Rows stay until an archive has them (archive/archive-note.ts). */
  readonly waitsForArchive?: boolean | undefined;
}

/** Where a window begins. */
export type HistoryEdge = Pick<Held, "keptFrom" | "keptFromMs">;

/** What the store has, as the thread that writes it says. */
export interface StoredRows {
  /** Without free pages. */
  readonly bytes: number;
  /** Rows before this seq are dropped. */
  readonly sweptTo: number;
}

/** Where rows have the seq of their command: a column, and a part of the key. */
interface SeqPlace {
  readonly column: string;
  seqOf(key: Buffer): number;
}

const bySeq = (seqOf: (key: Buffer) => number): SeqPlace => ({ column: "seq", seqOf });
const byId = (seqOf: (key: Buffer) => number): SeqPlace => ({ column: "id", seqOf });

export const WINDOWED: Readonly<Partial<Record<TableName, SeqPlace>>> = {
  acks: bySeq(groupOf),
  results: bySeq(groupOf),
  fills: bySeq(placeOf),
  trades: bySeq(placeOf),
  payments: bySeq(placeOf),
  ledger: bySeq(placeOf),
  orders: byId(placeOf),
  nonces: byId(lastOf),
  clientIds: byId(lastOf),
};
/** What commands before a window leave in it, by table; orders that are open come when it begins. */
export const OUT_OF_WINDOW: TakenTables = TABLES.map((name) => WINDOWED[name] === undefined);

/** Whether the row, if it is an order's, stays although its order was placed before the window. */
export function outlivesEdge(row: ArrayLike<number>, { keptFromMs }: HistoryEdge): boolean {
  const status = row[ORDER_ROW.STATUS];
  const isOpen = status === STATUS_RESTING || status === STATUS_PENDING;
  return isOpen || row[ORDER_ROW.UPDATED]! >= keptFromMs;
}

/** Of how many parts of its length a window moves at once: of 30 days an hour. */
const MOVES = 720;
/** Of a store that is too large so much of its limit is left. */
const LEFT = 0.95;

/** Moves a window's edge as the log goes on; edges are where blocks begin. */
export class Window {
  private nextMs = 0;

  constructor(
    private readonly options: RetentionOptions,
    private readonly blocks: BlockTimes,
    /** How far the archive is. */
    private readonly archived: () => ArchiveHeld | undefined,
  ) {}

  /** Where the window begins after a command; undefined: where it did. `isSealed`: the command sealed a block. */
  moved(
    held: Held,
    timeMs: number,
    isSealed: boolean,
    stored: StoredRows,
  ): HistoryEdge | undefined {
    const edge = this.byTime(held, timeMs) ?? (isSealed ? this.bySize(held, stored) : undefined);
    return edge !== undefined && edge.keptFrom > held.keptFrom ? edge : undefined;
  }

  private byTime(held: Held, timeMs: number): HistoryEdge | undefined {
    if (timeMs < this.nextMs) return undefined;
    const { hotMs } = this.options;
    this.nextMs = timeMs + hotMs / MOVES;
    const cutMs = timeMs - hotMs;
    return this.edgeAt(held, (block) => block.timeMs >= cutMs);
  }

  /** As if rows were spread evenly over the log; not before what was dropped is gone. */
  private bySize(held: Held, { bytes, sweptTo }: StoredRows): HistoryEdge | undefined {
    const { keptFrom, position } = held;
    const { maxBytes } = this.options;
    if (maxBytes === undefined || bytes <= maxBytes || sweptTo < keptFrom) return undefined;
    const excess = 1 - (LEFT * maxBytes) / bytes;
    const from = keptFrom + Math.ceil(excess * (position - keptFrom));
    return this.edgeAt(held, (block) => block.firstPosition >= from);
  }

  /** Where the first block like that begins, or an earlier one whose rows are needed. */
  private edgeAt(
    { changesFrom, position }: Held,
    isReached: (block: Pick<SealedBlock, "timeMs" | "firstPosition">) => boolean,
  ): HistoryEdge | undefined {
    const { blocks, options } = this;
    const archived = (): number => archivedTo(this.archived(), (number) => blocks.block(number));
    const next = (options.waitsForArchive === true ? archived() : position) + 1;
    // Changes are read with their orders' terms.
    const last = Math.min(changesFrom, next);
    const newest = blocks.newestBlock();
    if (newest === undefined) return undefined;
    const block = firstBlockWhere(
      blocks,
      newest,
      (each) => isReached(each) || each.lastPosition >= last,
    );
    // All were sealed before: the commands after them are in the open one.
    if (block === undefined) {
      return { keptFrom: newest.lastPosition + 1, keptFromMs: newest.timeMs };
    }
    const before = blocks.block(block.number - 1);
    return { keptFrom: block.firstPosition, keptFromMs: before?.timeMs ?? 0 };
  }
}
