/**
 * Recovery: builds a replica that has applied the whole log, from an open journal and its history
 * store. It starts from the newest intact snapshot that the history has reached, or from the beginning,
 * and applies the log from there. It writes only to the history; after a crash the next start
 * continues from what the history has committed. On failure it closes the history.
 *
 * Without a store, because another thread makes its rows (store-follower.ts), it starts from the newest snapshot.
 */
import { setImmediate } from "node:timers/promises";
import {
  type FileJournal,
  LOG_START,
  LogBehind,
  type LogSeq,
  nodeDisk,
  SegmentReader,
  type Snapshots,
} from "@perpgate/journal";
import type { SealedBlock } from "../blocks/block-header.js";
import {
  type SnapshotNotice,
  SnapshotTaker,
  type SnapshotTerms,
  snapshotFilesOf,
} from "../checkpoint/snapshot-taker.js";
import { FollowedHistory } from "../history/followed-history.js";
import type { History, HistoryEvents } from "../history/history.js";
import type { Held } from "../history/history-environment.js";
import type { HistoryStore } from "../history/history-store.js";
import { WrittenHistory } from "../history/written-history.js";
import { type Applied, type CommandObserver, Replica } from "../replica.js";
import { HistoryDamaged, HistoryLost } from "../venue-errors.js";
import { newestOf } from "./newest-state.js";
import { newReplicaState, observe, type ReplicaState } from "./replica-state.js";

export interface RecoveryReport {
  /** Seq of the snapshot it started from; 0 without one. */
  readonly snapshotSeq: number;
  /** Commands applied after it. */
  readonly applied: number;
  readonly elapsedMs: number;
  /** Newer snapshots that were skipped. */
  readonly damagedSnapshots: readonly string[];
}

export interface Recovered {
  readonly state: ReplicaState;
  readonly history: History;
  readonly replica: Replica;
  readonly end: LogSeq;
  readonly report: RecoveryReport;
  /** Of a venue that makes its rows itself; a thread that does takes the snapshots, too. */
  readonly taker: SnapshotTaker | undefined;
}

export interface RecoveryEvents extends HistoryEvents {
  /** Of a history that this thread writes: more is on disk. */
  onDurable?(held: Held): void;
  onSnapshot(notice: SnapshotNotice): void;
}

/** Batches between two checks of the backlog. */
const CHECK_EVERY = 64;

export async function recover(
  journal: FileJournal,
  journalDirectory: string,
  /** Undefined: another thread makes its rows. */
  store: HistoryStore | undefined,
  /** Of a rebuild that was not finished. */
  saved: Snapshots,
  /** What the store had on disk before. */
  held: Held,
  events: RecoveryEvents,
  /** Undefined: no snapshots are taken. */
  snapshots: SnapshotTerms | undefined,
  observers: readonly CommandObserver[],
  onProgress: (seq: number, record: number, records: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<Recovered> {
  const started = performance.now();
  let history: History | undefined;
  let taker: SnapshotTaker | undefined;
  try {
    const { state, from, damaged } = startingState(journal, store, saved);
    const first = state.engine.seq;
    history =
      store === undefined
        ? new FollowedHistory(first, state.rows, events)
        : WrittenHistory.open(store, state.rows, {
            ...events,
            onDurable: (held) => {
              taker?.onDurable(held);
              events.onDurable?.(held);
            },
            snapshots: snapshots === undefined ? undefined : snapshotFilesOf(snapshots),
          });
    if (history instanceof WrittenHistory && snapshots !== undefined) {
      const { onSnapshot: onNotice, onFailure } = events;
      taker = new SnapshotTaker(state, from, history, snapshots, { onNotice, onFailure });
    }
    const own = [historyObserver(state, history), ...(taker === undefined ? [] : [taker])];
    const replica = new Replica(state.engine, [...own, ...observers]);
    const end = journal.end;
    const reader = new SegmentReader(nodeDisk, journalDirectory, from);
    try {
      await replay(reader, end, replica, history, onProgress, signal);
    } finally {
      reader.close();
    }
    refuseLoss(journalDirectory, journal.recovery, replica.seq, held);
    if (history instanceof FollowedHistory) history.keep();
    const report = {
      snapshotSeq: first,
      applied: replica.seq - first,
      elapsedMs: performance.now() - started,
      damagedSnapshots: damaged,
    };
    return { state, history, replica, end, report, taker };
  } catch (error) {
    if (signal?.aborted === true) await history?.abandon();
    history?.halt();
    if (history === undefined) store?.environment.close();
    else await history.close().catch(() => undefined);
    throw error;
  }
}

async function replay(
  reader: SegmentReader,
  end: LogSeq,
  replica: Replica,
  history: History,
  onProgress: (seq: number, record: number, records: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (reader.seq.batch < end.batch) onProgress(replica.seq, reader.seq.record, end.record);
  const written = history instanceof WrittenHistory ? history : undefined;
  written?.beginReplay(end.record);
  try {
    for (let count = 1; ; count++) {
      const batch = reader.next(end.batch);
      if (batch === undefined) return;
      replica.applyBatch(batch);
      if (count % CHECK_EVERY !== 0) continue;
      // Lets the process receive signals.
      await setImmediate();
      signal?.throwIfAborted();
      if (written !== undefined) await written.settleFar();
      if (count % (64 * CHECK_EVERY) === 0) {
        onProgress(replica.seq, reader.seq.record, end.record);
      }
    }
  } finally {
    written?.endReplay();
  }
}

interface StartingState {
  readonly state: ReplicaState;
  readonly from: LogSeq;
  readonly damaged: readonly string[];
}

/** The newest readable snapshot, which the history has reached if there is one, or the beginning. */
function startingState(
  journal: FileJournal,
  store: HistoryStore | undefined,
  saved: Snapshots,
): StartingState {
  const { first } = journal.recovery;
  const skipped: string[] = [];
  const newest = newestOf([journal.snapshots, saved], store?.held.batch, skipped);
  if (newest !== undefined) return { ...newest, damaged: skipped };
  if (first.batch > 0) throw new HistoryLost(first, "no snapshot fits it");
  return { state: newReplicaState(), from: LOG_START, damaged: skipped };
}

/**
 * Repeated batches make the log's record count larger than its command count, so only after the replay
 * is it known whether the history has a command that the log has lost.
 */
function refuseLoss(
  directory: string,
  { first, end }: FileJournal["recovery"],
  seq: number,
  held: Held,
): void {
  if (seq >= held.position) return;
  const proof = { source: "the history", batch: held.batch, record: held.position };
  throw new LogBehind(directory, { batch: end.batch, record: seq }, [proof], first);
}

/** Updates the blocks before the history: its rows contain the block number and the sealed block. */
export function historyObserver(state: ReplicaState, history: History): CommandObserver {
  return {
    onCommand(applied: Applied): void {
      const sealed = observe(state, applied);
      try {
        if (sealed !== null && history instanceof WrittenHistory && applied.seq <= history.seq)
          compare(history, sealed);
        history.onCommand(applied, state.blocks.currentNumber, sealed);
      } catch (error) {
        if (error instanceof HistoryDamaged) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        throw new HistoryDamaged(`at position ${applied.seq}: ${reason}`, { cause: error });
      }
    },
    onBatchEnd: (end, batch) => history.onBatchEnd(end, batch),
  };
}

/** A stored block that differs from the log's shows a damaged history. */
function compare(history: History, { number, hash }: SealedBlock): void {
  const stored = history.block(number);
  if (stored === undefined) throw new HistoryDamaged(`block ${number} is missing`);
  if (!stored.hash.equals(hash)) throw new HistoryDamaged(`block ${number} has another hash`);
}
