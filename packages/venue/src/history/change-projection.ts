/**
 * What each command changed for each account, in the order of the log: acknowledgements, orders,
 * positions, deposits. It is the outbox of the private streams: a client that was away asks for all
 * after the last position it saw, and is told the same as one that stayed.
 *
 * A row holds the state after its command, so that it can be shown later as it was. What changes
 * twice within a command is noted once, as it ended.
 */
import type { HistoryTable } from "./history-table.js";
import { keyOf } from "./keys.js";
import { bytesOfWords } from "./words.js";
import type { WriteQueue } from "./write-queue.js";

/** First word of a row. The number of a kind is part of the store's format. */
export const CHANGE = { ACK: 0, ORDER: 1, POSITION: 2, DEPOSIT: 3 } as const;

/** An order's row follows its kind. */
export const CHANGED_ORDER = 1;
export const CHANGED_POSITION = {
  MARKET: 1,
  LOTS: 2,
  COST: 3,
  MARGIN: 4,
  REALIZED: 5,
  FUNDING: 6,
  MARK: 7,
  TIME: 8,
} as const;
/** A deposit's id, then its state: deposit-row.ts. */
export const CHANGED_DEPOSIT_ID = 1;
export const CHANGED_DEPOSIT = 2;

export interface ChangeRow {
  readonly account: number;
  readonly row: Float64Array;
}

const MARKETS = 4_096;

export class ChangeProjection {
  /** The rows of the command that was applied last. */
  last: readonly ChangeRow[] = [];
  private rows: ChangeRow[] = [];
  /** Where in `rows` a position of the command under way stands. */
  private readonly placeOfPosition = new Map<number, number>();
  private readonly seenDeposits = new Set<string>();

  constructor(
    private readonly changes: HistoryTable,
    private readonly queue: WriteQueue,
  ) {}

  onAcknowledged(account: number): void {
    this.rows.push({ account, row: Float64Array.of(CHANGE.ACK) });
  }

  /** Called once for every order that the command changed. */
  onOrder(account: number, order: Float64Array): void {
    const row = new Float64Array(1 + order.length);
    row[0] = CHANGE.ORDER;
    row.set(order, CHANGED_ORDER);
    this.rows.push({ account, row });
  }

  /** `figures` in the order of `CHANGED_POSITION`. */
  onPosition(account: number, market: number, ...figures: readonly number[]): void {
    const change = { account, row: Float64Array.of(CHANGE.POSITION, market, ...figures) };
    const key = account * MARKETS + market;
    const place = this.placeOfPosition.get(key);
    if (place === undefined) this.placeOfPosition.set(key, this.rows.push(change) - 1);
    else this.rows[place] = change;
  }

  /** The engine has come to the end of the command: what is read first is how it ended. */
  onDeposit(account: number, depositId: number, words: () => readonly number[]): void {
    const key = `${account}.${depositId}`;
    if (this.seenDeposits.has(key)) return;
    this.seenDeposits.add(key);
    this.rows.push({ account, row: Float64Array.of(CHANGE.DEPOSIT, depositId, ...words()) });
  }

  endCommand(position: number): void {
    this.last = this.rows;
    if (this.rows.length === 0) return;
    this.rows.forEach(({ account, row }, ordinal) => {
      this.queue.put(this.changes, keyOf(account, position, ordinal), bytesOfWords(row));
    });
    this.rows = [];
    this.placeOfPosition.clear();
    this.seenDeposits.clear();
  }
}
