/**
 * When each position last changed its lots, cost or margin; a change of the reserve for open orders
 * does not count. The engine keeps the figures but not the time.
 */
import { BACKSTOP_ACCOUNT } from "@perpgate/engine";
import { SETTLED } from "../event-fields.js";
import { CHANGED_POSITION, type ChangeProjection, FLAG } from "./change-projection.js";
import { ROW_TABLES } from "./history-environment.js";
import { accountGroup } from "./keys.js";
import { type ProjectedReader, type ProjectedWriter, sortedEntries } from "./projected-state.js";
import { noOffset, type RowOffset, type RowSink } from "./rows.js";

const ROW = { LOTS: 0, COST: 1, MARGIN: 2, UPDATED: 3 } as const;
const ROW_WORDS = 4;

interface Kept {
  readonly row: Float64Array;
  readonly offset: RowOffset;
}

export class PositionProjection {
  /** Open positions, by account and market. */
  private readonly kept = new Map<number, Kept>();

  constructor(
    private readonly queue: RowSink,
    private readonly changes: ChangeProjection,
    private readonly markTicks: (market: number) => number,
  ) {}

  save(writer: ProjectedWriter): void {
    writer.each(sortedEntries(this.kept), ([index, { row }]) => writer.words([index, ...row]));
  }

  load(reader: ProjectedReader): void {
    reader.each(() => {
      const [index = 0, ...row] = reader.words();
      this.kept.set(index, { row: Float64Array.from(row), offset: noOffset() });
    });
  }

  onSettled(words: Float64Array, at: number, timeMs: number): void {
    const account = words[at + SETTLED.account]!;
    const market = words[at + SETTLED.market]!;
    const lots = words[at + SETTLED.lots]!;
    const cost = words[at + SETTLED.costMicros]!;
    const margin = words[at + SETTLED.marginMicros]!;
    // Its reserve or its owner's wallet may have changed.
    if (account !== BACKSTOP_ACCOUNT) this.changes.flag(account, FLAG.MONEY);
    const index = accountGroup(account, market);
    const kept = this.kept.get(index) ?? newKept();
    const { row, offset } = kept;
    if (row[ROW.LOTS] === lots && row[ROW.COST] === cost && row[ROW.MARGIN] === margin) return;
    row[ROW.LOTS] = lots;
    row[ROW.COST] = cost;
    row[ROW.MARGIN] = margin;
    row[ROW.UPDATED] = timeMs;
    this.queue.overwrite(offset, ROW_TABLES.positions, account, market, row);
    if (lots === 0 && cost === 0 && margin === 0) this.kept.delete(index);
    else this.kept.set(index, kept);
    if (account === BACKSTOP_ACCOUNT || !this.changes.isWanted(account)) return;
    const change = this.changes.onPosition(account, market);
    change[CHANGED_POSITION.LOTS] = lots;
    change[CHANGED_POSITION.COST] = cost;
    change[CHANGED_POSITION.MARGIN] = margin;
    change[CHANGED_POSITION.REALIZED] = words[at + SETTLED.realizedMicros]!;
    change[CHANGED_POSITION.FUNDING] = words[at + SETTLED.fundingMicros]!;
    change[CHANGED_POSITION.MARK] = this.markTicks(market);
    change[CHANGED_POSITION.TIME] = timeMs;
  }

  /** Undefined for a position that is closed. */
  updatedAt(account: number, market: number): number | undefined {
    return this.kept.get(accountGroup(account, market))?.row[ROW.UPDATED];
  }
}

function newKept(): Kept {
  return { row: new Float64Array(ROW_WORDS), offset: noOffset() };
}
