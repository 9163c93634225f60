/**
 * Rebuilds the store from the log with a replica of its own, while the venue trades: in a thread
 * (rebuild-thread.ts) or in the caller's.
 *
 *   1. follow   apply the log from where the store is, or was at the last kill, up to the venue's end
 *   2. finish   the venue is near: apply up to the batch that it names, write everything, close the store
 *
 * A kill at any moment leaves a store whose rows and progress agree. The replica's state is saved in the
 * store's folder now and then, so the next start goes on there and not at the log's beginning.
 */
import { rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import {
  type Batch,
  FileSnapshots,
  LOG_START,
  LogReader,
  type LogSeq,
  nodeDisk,
} from "@perpgate/journal";
import { FoundHistory } from "../history/found-history.js";
import { History } from "../history/history.js";
import type { Held } from "../history/history-environment.js";
import { adoptHistory, newHistory } from "../history/history-store.js";
import { Replica } from "../replica.js";
import { HistoryDamaged } from "../venue-errors.js";
import type { DataFolder } from "./data-folder.js";
import { type NewestState, newestOf } from "./newest-state.js";
import { historyObserver, isFarBehind } from "./recover.js";
import { encodeReplicaState, newReplicaState, type ReplicaState } from "./replica-state.js";

export interface RebuildData {
  readonly folder: DataFolder;
  readonly logId: Uint8Array;
  /** The log's end now: changes that the outbox will not have are not made. */
  readonly record: number;
  /** Batches of the log on disk. */
  readonly batch: number;
  readonly outboxCommands: number;
  readonly commit: "thread" | "inline";
  /** Commands between two saved states. */
  readonly saveEvery: number;
  /** Memory of an `ExitDeadline`, if a failure ends the process. */
  readonly exitDeadline: SharedArrayBuffer | undefined;
}

export type ToRebuild =
  /** The log may be read up to this batch. */
  | { readonly kind: "follow"; readonly batch: number }
  /** The store must end after this batch. */
  | { readonly kind: "finish"; readonly batch: number }
  | { readonly kind: "close" };

export type FromRebuild =
  | { readonly kind: "progress"; readonly batch: number; readonly record: number }
  /** The rows could not be used; it begins again. */
  | { readonly kind: "discarded"; readonly reason: string; readonly movedTo: string | undefined }
  /** The store is complete up to the batch of `finish`, and closed. */
  | { readonly kind: "finished"; readonly held: Held }
  | { readonly kind: "failed"; readonly message: string };

/** Batches between two looks at messages and at what is not written. */
const CHECK_EVERY = 64;
const PROGRESS_MS = 200;
/** Saved states that are kept: the last may be ahead of what is on disk at a kill. */
const KEPT_STATES = 2;

/** States that a rebuild has saved, in the store's folder. */
export function savedStates(folder: DataFolder, logId: Uint8Array): FileSnapshots {
  return new FileSnapshots(nodeDisk, folder.history, logId);
}

/** The store needs them no more. */
export function removeSavedStates(saved: FileSnapshots): void {
  for (const { file } of saved.list()) rmSync(file);
}

export class Rebuild {
  private until: number;
  private finishAt: number | undefined;
  private isOver = false;
  private wake: () => void = () => undefined;
  private reportedAtMs = 0;
  private failure: Error | undefined;
  private readonly saved: FileSnapshots;

  constructor(
    private readonly data: RebuildData,
    private readonly report: (message: FromRebuild) => void,
  ) {
    this.until = data.batch;
    this.saved = savedStates(data.folder, data.logId);
  }

  take(message: ToRebuild): void {
    if (message.kind === "follow") this.until = Math.max(this.until, message.batch);
    else if (message.kind === "finish") this.finishAt = message.batch;
    else this.isOver = true;
    this.wake();
  }

  /** Resolves once it has finished, failed or was closed; reports which. */
  async run(): Promise<void> {
    try {
      await this.build().catch((error: unknown) => {
        if (!(error instanceof HistoryDamaged)) throw error;
        this.discard(error);
        return this.build();
      });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.report({ kind: "failed", message });
    }
  }

  private discard({ message: reason }: HistoryDamaged): void {
    const { folder, logId } = this.data;
    const { store, discarded } = newHistory(
      folder.history,
      logId,
      { kind: "damaged", reason },
      Date.now(),
    );
    store.environment.close();
    this.report({ kind: "discarded", reason, movedTo: discarded?.movedTo });
  }

  private async build(): Promise<void> {
    const { folder, logId, outboxCommands, commit, exitDeadline, record } = this.data;
    const { store } = adoptHistory(FoundHistory.find(folder.history), logId, LOG_START, Date.now());
    const { state, from } = this.startingState(store.held);
    const history = History.open(store, state.rows, {
      onDurable: () => undefined,
      onFailure: (error) => {
        this.failure ??= error;
        this.wake();
      },
      exitDeadline,
      commit,
      outboxCommands,
    });
    const reader = new LogReader(nodeDisk, folder.journal, from);
    history.beginReplay(record);
    let isFinished = false;
    try {
      isFinished = await this.follow(reader, state, history);
      history.endReplay();
    } finally {
      reader.close();
      if (!isFinished) {
        await history.abandon();
        await history.close().catch(() => undefined);
      }
    }
    if (!isFinished) return;
    await history.close();
    removeSavedStates(this.saved);
    this.report({ kind: "finished", held: history.durable });
  }

  private startingState({ batch }: Held): NewestState {
    const { folder, logId } = this.data;
    const taken = new FileSnapshots(nodeDisk, folder.journal, logId);
    const newest = newestOf([this.saved, taken], batch);
    return newest ?? { state: newReplicaState(), from: LOG_START };
  }

  /** Returns whether the store has all that it must have. */
  private async follow(reader: LogReader, state: ReplicaState, history: History): Promise<boolean> {
    const replica = new Replica(state.engine, [historyObserver(state, history)]);
    let savedAt = replica.seq;
    for (let count = 1; !this.isOver; count++) {
      if (this.failure !== undefined) throw this.failure;
      const batch = this.next(reader);
      if (batch !== undefined) replica.applyBatch(batch);
      else if (this.finishAt === reader.seq.batch) return true;
      else await this.woken(reader.seq);
      if (count % CHECK_EVERY !== 0) continue;
      await setImmediate();
      this.reportProgress(reader.seq);
      const { backlog, tailBytes } = history;
      if (isFarBehind(backlog, tailBytes)) await history.settle(Math.floor(backlog / 2));
      if (replica.seq - savedAt < this.data.saveEvery) continue;
      savedAt = replica.seq;
      this.saved.write(reader.seq, encodeReplicaState(state, state.engine.snapshot()));
      this.saved.keepNewest(KEPT_STATES);
    }
    return false;
  }

  private next(reader: LogReader): Batch | undefined {
    return reader.next(Math.min(this.until, this.finishAt ?? Number.POSITIVE_INFINITY));
  }

  /** There is nothing to read now. */
  private async woken(at: LogSeq): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    this.reportedAtMs = 0;
    this.reportProgress(at);
    await woken;
    this.wake = () => undefined;
  }

  private reportProgress({ batch, record }: LogSeq): void {
    const nowMs = performance.now();
    if (nowMs - this.reportedAtMs < PROGRESS_MS && this.reportedAtMs > 0) return;
    this.reportedAtMs = nowMs;
    this.report({ kind: "progress", batch, record });
  }
}
