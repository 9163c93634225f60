/** The history's side of the thread that writes it; see history-thread.ts. */
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

export class HistoryWriter {
  private readonly thread: WorkerThread;
  private readonly signals = new Int32Array(new SharedArrayBuffer(SIGNAL_BYTES));
  /** The last slice handed in; 0 if the thread has nothing to do. */
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
    // The venue's own work keeps the process alive, and this only while there is something to write.
    this.thread.worker.unref();
  }

  write({ number, shared, length, count }: Slice, held: Held): void {
    if (this.isOver) return;
    if (this.awaited === 0) this.thread.worker.ref();
    this.awaited = number;
    this.post({ kind: "write", number, memory: shared, length, count, held });
  }

  /** What was handed in is written without waiting for more. */
  hurry(): void {
    if (!this.isOver) this.post({ kind: "hurry", time: this.ring() });
  }

  /** Resolves once everything handed in was written, or has failed, and the store is let go of. */
  async close(): Promise<void> {
    this.isOver = true;
    this.thread.worker.ref();
    this.ring();
    this.post({ kind: "close" });
    await this.thread.exited;
  }

  /**
   * Rolls back the transaction in progress, writes nothing more, and resolves once the thread has
   * ended. A thread that is terminated within a transaction would hold lmdb's lock for ever, and the
   * exit of the process would wait for it.
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

  /** Wakes the thread if it rests between two steps, and lets it rest no more until it has heeded. */
  private ring(): number {
    const before = Atomics.add(this.signals, SIGNAL.HURRIES, 1);
    Atomics.notify(this.signals, SIGNAL.HURRIES);
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
