/**
 * When each position last changed its lots, cost or margin; a change of the reserve for open orders
 * does not count. The engine keeps the figures but not the time.
 */
import { BACKSTOP_ACCOUNT } from "@perpgate/engine";
import { SETTLED } from "../event-fields.js";
import { CHANGED_POSITION, type ChangeProjection, FLAG } from "./change-projection.js";
import { accountGroup, keyOf } from "./keys.js";
import { noOffset, type RowOffset, type RowSink, type RowTable, storedRow } from "./rows.js";

const ROW = { LOTS: 0, COST: 1, MARGIN: 2, UPDATED: 3 } as const;
const ROW_WORDS = 4;
/** Rows cached in memory; at this size the cache is cleared. */
const KEPT_ROWS = 100_000;

interface Kept {
  readonly row: Float64Array;
  readonly offset: RowOffset;
}

export class PositionProjection {
  private readonly kept = new Map<number, Kept>();

  constructor(
    private readonly positions: RowTable,
    private readonly queue: RowSink,
    private readonly changes: ChangeProjection,
    private readonly markTicks: (market: number) => number,
  ) {}

  onSettled(words: Float64Array, at: number, timeMs: number): void {
    const account = words[at + SETTLED.account]!;
    const market = words[at + SETTLED.market]!;
    const lots = words[at + SETTLED.lots]!;
    const cost = words[at + SETTLED.costMicros]!;
    const margin = words[at + SETTLED.marginMicros]!;
    // Its reserve or its owner's wallet may have changed.
    if (account !== BACKSTOP_ACCOUNT) this.changes.flag(account, FLAG.MONEY);
    const { row, offset } = this.keptOf(account, market);
    if (row[ROW.LOTS] === lots && row[ROW.COST] === cost && row[ROW.MARGIN] === margin) return;
    row[ROW.LOTS] = lots;
    row[ROW.COST] = cost;
    row[ROW.MARGIN] = margin;
    row[ROW.UPDATED] = timeMs;
    this.queue.overwrite(offset, this.positions, account, market, row);
    if (account === BACKSTOP_ACCOUNT) return;
    const change = this.changes.onPosition(account, market);
    change[CHANGED_POSITION.LOTS] = lots;
    change[CHANGED_POSITION.COST] = cost;
    change[CHANGED_POSITION.MARGIN] = margin;
    change[CHANGED_POSITION.REALIZED] = words[at + SETTLED.realizedMicros]!;
    change[CHANGED_POSITION.FUNDING] = words[at + SETTLED.fundingMicros]!;
    change[CHANGED_POSITION.MARK] = this.markTicks(market);
    change[CHANGED_POSITION.TIME] = timeMs;
  }

  updatedAt(account: number, market: number): number {
    return this.keptOf(account, market).row[ROW.UPDATED]!;
  }

  private keptOf(account: number, market: number): Kept {
    const index = accountGroup(account, market);
    let kept = this.kept.get(index);
    if (kept === undefined) {
      const stored = this.positions.get(keyOf(account, market));
      const row =
        stored === undefined
          ? new Float64Array(ROW_WORDS)
          : Float64Array.from(storedRow(stored, "positions", ROW_WORDS));
      if (this.kept.size >= KEPT_ROWS) this.kept.clear();
      kept = { row, offset: noOffset() };
      this.kept.set(index, kept);
    }
    return kept;
  }
}
