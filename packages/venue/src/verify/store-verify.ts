/**
 * Compares every table of a folder's store with a replay of its log: each row, and their number. Unlike
 * `verify` it goes on after a difference, and judges nothing else in the folder. It writes nothing.
 */
import { JournalDamaged, nodeDisk, SegmentReader } from "@perpgate/journal";
import { TABLES } from "../history/history-environment.js";
import { dataFolder } from "../recovery/data-folder.js";
import { refuseUnknownLog } from "../recovery/log-version.js";
import { observe } from "../recovery/replica-state.js";
import { ReplayFailed, Replica } from "../replica.js";
import { HistoryDamaged } from "../venue-errors.js";
import { HistoryCheck } from "./history-check.js";
import { inspectStart, startingPoint } from "./starting-point.js";
import { hashOfTable, openStore, type VerifiedTable } from "./stored-tables.js";
import type { VerifyProgress } from "./verify.js";

export interface StoreReport {
  /** Position that the store has reached: the comparison ends there. */
  readonly position: number;
  /** Position after which the replay began: 0, or that of a snapshot if the log was pruned. */
  readonly from: number;
  /** The first difference that ends the comparison; or null. */
  readonly fault: string | null;
  readonly tables: readonly VerifiedTable[];
  readonly agrees: boolean;
}

const PROGRESS_EVERY_MS = 500;

/** @throws {StoreUnusable} */
export async function verifyStore(
  directory: string,
  onProgress: (progress: VerifyProgress) => void = () => undefined,
): Promise<StoreReport> {
  const folder = dataFolder(directory);
  refuseUnknownLog(folder.journal);
  const log = inspectStart(folder.journal);
  if (log instanceof JournalDamaged) throw log;
  const { state, from } = startingPoint(folder.journal, log.logId, log.first);
  const store = openStore(folder.history, log.logId);
  const first = state.engine.seq;
  const check = new HistoryCheck(store, state.rows, first);
  const replica = new Replica(state.engine, [
    {
      onCommand(applied) {
        const sealed = observe(state, applied);
        check.onCommand(applied, state.blocks.currentNumber, sealed);
      },
    },
  ]);
  const { position } = store.held;
  // Looked up after the store was opened, which a venue may write meanwhile: the log has all of it.
  const now = inspectStart(folder.journal);
  const end = now instanceof JournalDamaged ? log.end : now.end;
  const until = Math.min(store.held.needs, end.batch);
  const reader = new SegmentReader(nodeDisk, folder.journal, from);
  let fault: string | null = null;
  try {
    let shownAt = performance.now();
    while (replica.seq < position) {
      const batch = reader.next(until);
      if (batch === undefined) break;
      replica.applyBatch(batch);
      if (performance.now() - shownAt < PROGRESS_EVERY_MS) continue;
      shownAt = performance.now();
      const { record } = reader.seq;
      onProgress({ seq: replica.seq, record, records: store.held.record });
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (replica.seq < position) {
      fault = `the log ends at position ${replica.seq}, but the history shows position ${position}`;
    } else check.endFault();
    const tables: VerifiedTable[] = [];
    for (const table of TABLES) {
      tables.push({
        table,
        rows: store.tables[table].count(),
        logRows: check.madeRows(table),
        sha256: await hashOfTable(store.environment, table),
        fault: check.faults.get(table) ?? null,
      });
    }
    const agrees = fault === null && check.faults.size === 0;
    return { position, from: first, fault, tables, agrees };
  } catch (error) {
    if (!(error instanceof HistoryDamaged || error instanceof ReplayFailed)) throw error;
    const reason = `position ${replica.seq + 1}: ${error.message}`;
    return { position, from: first, fault: reason, tables: [], agrees: false };
  } finally {
    reader.close();
    store.close();
  }
}
