/** The main thread's side of the writing thread; see history-thread.ts. */
import { startWorker, type WorkerThread } from "@perpgate/journal/worker";
import type { Held } from "../history-environment.js";
import type { Slice } from "../slice.js";
import {
  type FromWriter,
  SIGNAL,
  SIGNAL_BYTES,
  type ThreadData,
  type ToWriter,
  type WriterData,
} from "./messages.js";

export interface WriterEvents {
  /** The slice of this number and all before it are on disk. */
  onWritten(number: number): void;
  /** Nothing more is written. */
  onFailure(error: Error): void;
}

/** Writes slices in order, in a thread or in the caller's. */
export interface SliceWriter {
  write(slice: Slice, held: Held): void;
  /** Makes it write all posted slices now. */
  flush(): void;
  /** Resolves once all posted slices are committed or have failed, and the store is closed. */
  close(): Promise<void>;
  /** Writes nothing more; resolves once nothing is in flight. */
  abandon(): Promise<void>;
}

export class HistoryWriter implements SliceWriter {
  private readonly thread: WorkerThread;
  private readonly signals = new Int32Array(new SharedArrayBuffer(SIGNAL_BYTES));
  /** Number of the last slice posted; 0 if all are committed. */
  private awaited = 0;
  private isOver = false;

  constructor(
    data: WriterData,
    private readonly events: WriterEvents,
    exitDeadline?: SharedArrayBuffer,
  ) {
    const workerData: ThreadData = { ...data, signals: this.signals.buffer, exitDeadline };
    this.thread = startWorker("history", "./history-thread.js", import.meta.url, { workerData });
    const { worker, exited } = this.thread;
    worker.on("message", (message: FromWriter) => {
      if (message.kind === "written") this.onWritten(message.number);
      else this.fail(message.message);
    });
    void exited.then(({ message }) => this.fail(message));
    // Keeps the process alive only while a slice is not committed.
    worker.unref();
  }

  write({ number, shared, length, count }: Slice, held: Held): void {
    if (this.isOver) return;
    if (this.awaited === 0) this.thread.worker.ref();
    this.awaited = number;
    this.post({ kind: "write", number, memory: shared, length, count, held });
  }

  flush(): void {
    if (!this.isOver) this.post({ kind: "flush", request: this.requestFlush() });
  }

  async close(): Promise<void> {
    this.isOver = true;
    this.thread.worker.ref();
    this.requestFlush();
    this.post({ kind: "close" });
    await this.thread.exited;
  }

  /**
   * Rolls back the open transaction, writes nothing more, and resolves once the thread has ended. A
   * thread terminated within a transaction would keep lmdb's lock, and the process could not exit.
   *
   * ABANDONED is stored before `close` increments FLUSHES and wakes the thread, so the thread reads
   * ABANDONED = 1 after every wake-up that this call causes.
   */
  async abandon(): Promise<void> {
    Atomics.store(this.signals, SIGNAL.ABANDONED, 1);
    await this.close();
  }

  private onWritten(number: number): void {
    if (number === this.awaited && !this.isOver) {
      this.awaited = 0;
      this.thread.worker.unref();
    }
    this.events.onWritten(number);
  }

  /**
   * Increments FLUSHES, then notifies. A thread that waits in `Pacer.next` wakes; one about to wait
   * compares FLUSHES with the last served value, finds it larger, and does not wait.
   */
  private requestFlush(): number {
    const before = Atomics.add(this.signals, SIGNAL.FLUSHES, 1);
    Atomics.notify(this.signals, SIGNAL.FLUSHES);
    return before + 1;
  }

  private post(message: ToWriter): void {
    this.thread.worker.postMessage(message);
  }

  private fail(reason: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.thread.worker.unref();
    this.events.onFailure(new Error(`the history cannot be written: ${reason}`));
  }
}
