/**
 * When each position last changed: its lots, its cost or its margin, not merely the reserve of an
 * order beside it. The engine keeps the figures; the time is kept here.
 */
import { BACKSTOP_ACCOUNT } from "@perpgate/engine";
import { SETTLED } from "../events/event-fields.js";
import type { ChangeProjection } from "./change-projection.js";
import type { HistoryTable } from "./history-table.js";
import { keyOf } from "./keys.js";
import { bytesOfWords, wordsOfBytes } from "./words.js";
import type { WriteQueue } from "./write-queue.js";

const ROW = { LOTS: 0, COST: 1, MARGIN: 2, UPDATED: 3 } as const;
/** Rows kept in memory; beyond it all are dropped and read back as they are needed. */
const KEPT_ROWS = 100_000;
const MARKETS = 4_096;

export class PositionProjection {
  private readonly rows = new Map<number, Float64Array>();

  constructor(
    private readonly positions: HistoryTable,
    private readonly queue: WriteQueue,
    private readonly changes: ChangeProjection,
    private readonly markTicks: (market: number) => number,
  ) {}

  onSettled(words: Float64Array, at: number, timeMs: number): void {
    const account = words[at + SETTLED.account]!;
    const market = words[at + SETTLED.market]!;
    const lots = words[at + SETTLED.lots]!;
    const cost = words[at + SETTLED.costMicros]!;
    const margin = words[at + SETTLED.marginMicros]!;
    const row = this.rowOf(account, market);
    if (row[ROW.LOTS] === lots && row[ROW.COST] === cost && row[ROW.MARGIN] === margin) return;
    row[ROW.LOTS] = lots;
    row[ROW.COST] = cost;
    row[ROW.MARGIN] = margin;
    row[ROW.UPDATED] = timeMs;
    this.queue.put(this.positions, keyOf(account, market), bytesOfWords(row));
    if (account === BACKSTOP_ACCOUNT) return;
    const realized = words[at + SETTLED.realizedMicros]!;
    const funding = words[at + SETTLED.fundingMicros]!;
    const mark = this.markTicks(market);
    this.changes.onPosition(account, market, lots, cost, margin, realized, funding, mark, timeMs);
  }

  updatedAt(account: number, market: number): number {
    return this.rowOf(account, market)[ROW.UPDATED]!;
  }

  private rowOf(account: number, market: number): Float64Array {
    const index = account * MARKETS + market;
    let row = this.rows.get(index);
    if (row === undefined) {
      const stored = this.positions.get(keyOf(account, market));
      row = stored === undefined ? new Float64Array(4) : wordsOfBytes(stored);
      if (this.rows.size >= KEPT_ROWS) this.rows.clear();
      this.rows.set(index, row);
    }
    return row;
  }
}
