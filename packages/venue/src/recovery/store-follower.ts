/**
 * Makes the store's rows from the log with a replica of its own, in a thread (store-thread.ts) or in the
 * caller's:
 *
 *   1. follow   apply the log from where the store is, or was at the last kill, up to the venue's end
 *   2. live     the venue names a batch: apply the log up to it, write everything, and then apply the batches
 *               that the venue passes; each piece of them makes a slice of rows, which the venue gets. Its replica
 *               is also the one of which snapshots are taken
 *
 * A kill at any moment leaves a store whose rows and progress agree. While it follows, the replica's state is
 * saved in the store's folder now and then, so the next start goes on there and not at the log's beginning.
 */
import { rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import {
  type Batch,
  FileSnapshots,
  LOG_START,
  type LogSeq,
  nodeDisk,
  SegmentReader,
} from "@perpgate/journal";
import { readArchived } from "../archive/archive-note.js";
import {
  type SnapshotNotice,
  SnapshotTaker,
  type SnapshotTerms,
  snapshotFilesOf,
} from "../checkpoint/snapshot-taker.js";
import { type PackedBatches, unpacked } from "../history/batch-packer.js";
import type { MadeSlice } from "../history/followed-history.js";
import { FoundHistory } from "../history/found-history.js";
import type { Held } from "../history/history-environment.js";
import { adoptHistory, newHistory } from "../history/history-store.js";
import { ThreadPacer } from "../history/thread/pacer.js";
import { WrittenHistory } from "../history/written-history.js";
import { Replica } from "../replica.js";
import { HistoryDamaged } from "../venue-errors.js";
import type { VenueOptions } from "../venue-options.js";
import type { DataFolder } from "./data-folder.js";
import { type NewestState, newestOf } from "./newest-state.js";
import { historyObserver } from "./recover.js";
import { encodeReplicaState, newReplicaState, type ReplicaState } from "./replica-state.js";

export interface FollowerData {
  readonly folder: DataFolder;
  readonly logId: Uint8Array;
  /** The log's end now: changes that the outbox will not have are not made. */
  readonly record: number;
  /** Batches of the log on disk. */
  readonly batch: number;
  /** Where the log begins: unless that is its beginning, rows that cannot be used stay as they are. */
  readonly first: LogSeq;
  readonly outboxCommands: number;
  readonly retention: VenueOptions["retention"];
  /** The log's time at that end: rows that are out of the window then are not made. */
  readonly timeMs: number;
  readonly commit: "thread" | "inline";
  /** Commands between two saved states. */
  readonly saveEvery: number;
  /** Of the snapshots that it takes once it is live; undefined: none. */
  readonly snapshots: SnapshotTerms | undefined;
  /** Memory of an `ExitDeadline`, if a failure ends the process. */
  readonly exitDeadline: SharedArrayBuffer | undefined;
}

export type ToFollower =
  /** The log may be read up to this batch. */
  | { readonly kind: "follow"; readonly batch: number }
  /** The venue passes the batches after this one. */
  | { readonly kind: "live"; readonly batch: number }
  | { readonly kind: "make"; readonly batches: PackedBatches }
  /** Of a log that delivers batches before they are on disk: so many are. */
  | { readonly kind: "onDisk"; readonly batches: number }
  | { readonly kind: "flush" }
  | { readonly kind: "close" };

export type FromFollower =
  | { readonly kind: "progress"; readonly batch: number; readonly record: number }
  /** The rows could not be used; it begins again. */
  | { readonly kind: "discarded"; readonly reason: string; readonly movedTo: string | undefined }
  /** The store has everything up to the batch that the venue named. */
  | { readonly kind: "live"; readonly held: Held }
  | ({ readonly kind: "made" } & MadeSlice)
  | { readonly kind: "written"; readonly held: Held; readonly walBytes: number }
  | { readonly kind: "snapshot"; readonly notice: SnapshotNotice }
  /** `isLost`: the rows cannot be made again. */
  | { readonly kind: "failed"; readonly message: string; readonly isLost: boolean };

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

export class StoreFollower {
  private until: number;
  private liveAfter: number | undefined;
  private isOver = false;
  private isLive = false;
  private wake: () => void = () => undefined;
  private reportedAtMs = 0;
  private failure: Error | undefined;
  private readonly saved: FileSnapshots;
  /** What the venue has passed and what it asks for, in order. */
  private readonly inbox: Extract<ToFollower, { kind: "make" | "onDisk" | "flush" }>[] = [];

  constructor(
    private readonly data: FollowerData,
    private readonly report: (message: FromFollower) => void,
  ) {
    this.until = data.batch;
    this.saved = savedStates(data.folder, data.logId);
  }

  take(message: ToFollower): void {
    switch (message.kind) {
      case "follow":
        this.until = Math.max(this.until, message.batch);
        break;
      case "live":
        this.liveAfter = message.batch;
        break;
      case "close":
        this.isOver = true;
        break;
      default:
        this.inbox.push(message);
    }
    this.wake();
  }

  /** Resolves once it has failed or was closed. */
  async run(): Promise<void> {
    try {
      await this.build().catch((error: unknown) => {
        if (!(error instanceof HistoryDamaged) || this.isPruned) throw error;
        this.discard(error);
        return this.build();
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = this.isLive ? reason : `the history cannot be rebuilt: ${reason}`;
      const isLost = error instanceof HistoryDamaged && this.isPruned;
      this.report({ kind: "failed", message: isLost ? reason : message, isLost });
    }
  }

  private get isPruned(): boolean {
    return this.data.first.batch > 0;
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
    const { folder, logId, first, outboxCommands, commit, exitDeadline, record } = this.data;
    const { snapshots, retention, timeMs } = this.data;
    const { store } = adoptHistory(FoundHistory.find(folder.history), logId, first, Date.now());
    const { state, from } = this.startingState(store.held);
    const onFailure = (error: Error): void => {
      this.failure ??= error;
      this.wake();
    };
    let taker: SnapshotTaker | undefined;
    const history = WrittenHistory.open(store, state.rows, {
      onDurable: (held) => {
        taker?.onDurable(held);
        if (this.isLive) this.report({ kind: "written", held, walBytes: history.walBytes });
      },
      onSlice: (slice, held) => {
        if (!this.isLive) return;
        const { number, parentHash } = state.blocks.open();
        const sealed = { block: number - 1, blockHash: parentHash.toString("hex") };
        this.report({ kind: "made", bytes: slice.copy(), count: slice.count, held, ...sealed });
      },
      onFailure,
      snapshots: snapshots === undefined ? undefined : snapshotFilesOf(snapshots),
      exitDeadline,
      commit,
      outboxCommands,
      retention,
      archived: () => readArchived(folder),
    });
    const reader = new SegmentReader(nodeDisk, folder.journal, from);
    // An archive may not have the rows before the window yet.
    const keepsAll = retention === undefined || retention.waitsForArchive === true;
    history.beginReplay(record, keepsAll ? 0 : timeMs - retention.hotMs);
    if (snapshots !== undefined) {
      const onNotice = (notice: SnapshotNotice) => this.report({ kind: "snapshot", notice });
      taker = new SnapshotTaker(state, from, history, snapshots, { onNotice, onFailure });
    }
    const observer = historyObserver(state, history);
    const replica = new Replica(state.engine, taker === undefined ? [observer] : [observer, taker]);
    let isWhole = false;
    try {
      if (!(await this.follow(reader, state, replica, history))) return;
      history.endReplay();
      await history.flush();
      removeSavedStates(this.saved);
      this.report({ kind: "live", held: history.durable });
      this.isLive = true;
      taker?.start();
      await this.make(replica, history);
      isWhole = true;
    } finally {
      taker?.stop();
      reader.close();
      if (!isWhole) await history.abandon();
      const closed = history.close();
      // What is abandoned is not written, which is no failure.
      await (isWhole ? closed : closed.catch(() => undefined));
    }
  }

  private startingState({ batch }: Held): NewestState {
    const { folder, logId } = this.data;
    const taken = new FileSnapshots(nodeDisk, folder.journal, logId);
    const newest = newestOf([this.saved, taken], batch);
    if (newest === undefined && this.isPruned) throw new HistoryDamaged("no snapshot fits it");
    return newest ?? { state: newReplicaState(), from: LOG_START };
  }

  /** Returns whether it has reached the batch after which the venue passes its own; false if it was closed. */
  private async follow(
    reader: SegmentReader,
    state: ReplicaState,
    replica: Replica,
    history: WrittenHistory,
  ): Promise<boolean> {
    let savedAt = replica.seq;
    for (let count = 1; !this.isOver; count++) {
      if (this.failure !== undefined) throw this.failure;
      const batch = this.next(reader);
      if (batch !== undefined) replica.applyBatch(batch);
      else if (this.liveAfter === reader.seq.batch) return true;
      else {
        this.reportedAtMs = 0;
        this.reportProgress(reader.seq);
        await this.woken();
      }
      if (count % CHECK_EVERY !== 0) continue;
      await setImmediate();
      this.reportProgress(reader.seq);
      await history.settleFar();
      if (replica.seq - savedAt < this.data.saveEvery) continue;
      savedAt = replica.seq;
      this.saved.write(reader.seq, encodeReplicaState(state, state.engine.snapshot()));
      this.saved.keepNewest(KEPT_STATES);
    }
    return false;
  }

  private next(reader: SegmentReader): Batch | undefined {
    return reader.next(Math.min(this.until, this.liveAfter ?? Number.POSITIVE_INFINITY));
  }

  /** In a thread of its own, while nobody waits: the next message means that somebody does, or that it is behind. */
  private get mayRest(): boolean {
    return this.data.commit === "thread" && this.inbox.length === 0 && !this.isOver;
  }

  /** Makes the rows of what the venue passes, in short turns, until it is closed. */
  private async make(replica: Replica, history: WrittenHistory): Promise<void> {
    const pacer = new ThreadPacer();
    for (;;) {
      if (this.failure !== undefined) throw this.failure;
      const message = this.inbox.shift();
      if (message === undefined) {
        if (this.isOver) return;
        await this.woken();
        continue;
      }
      if (message.kind === "make") {
        pacer.begin();
        for (const batch of unpacked(message.batches)) {
          replica.applyBatch(batch);
          const restMs = this.mayRest ? pacer.restMs() : 0;
          if (restMs === 0) continue;
          await this.woken(restMs);
          pacer.resume();
        }
        history.cut();
      } else if (message.kind === "onDisk") history.onLogOnDisk(message.batches);
      // A failure is reported by the history.
      else void history.flush().catch(() => undefined);
      // The messages of the thread that writes come between.
      await setImmediate();
    }
  }

  /** There is nothing to do until a message comes, or for so long. */
  private async woken(withinMs?: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const woken = new Promise<void>((resolve) => {
      this.wake = resolve;
      if (withinMs !== undefined) timer = setTimeout(resolve, withinMs);
    });
    await woken;
    clearTimeout(timer);
    this.wake = () => undefined;
  }

  private reportProgress({ batch, record }: LogSeq): void {
    const nowMs = performance.now();
    if (nowMs - this.reportedAtMs < PROGRESS_MS && this.reportedAtMs > 0) return;
    this.reportedAtMs = nowMs;
    this.report({ kind: "progress", batch, record });
  }
}
