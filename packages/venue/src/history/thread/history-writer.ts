/** The main thread's side of the writing thread; see history-thread.ts. */
import { startWorker, type WorkerThread } from "@perpgate/journal/worker";
import type { SnapshotOutcome, TakenSnapshot } from "../../checkpoint/snapshot-writer.js";
import type { Held } from "../history-environment.js";
import type { Slice } from "../slice.js";
import type { FromWriter, ThreadData, ToWriter, WriterData, Written } from "./messages.js";
import { endRests } from "./pacer.js";
import { StoreWriter } from "./store-writer.js";

interface WriterEvents {
  /** The slice of this number and all before it are on disk. */
  onWritten(written: Written): void;
  onSnapshot(outcome: SnapshotOutcome): void;
  /** Nothing more is written. */
  onFailure(error: Error): void;
}

/** Writes slices in order, in a thread or in the caller's. */
export interface SliceWriter {
  write(slice: Slice, held: Held): void;
  /** The memory of its pieces moves. */
  writeSnapshot(snapshot: TakenSnapshot): void;
  /** Makes it write all posted slices now. */
  flush(): void;
  /** Resolves once all posted slices are committed or have failed, and the store is closed. */
  close(): Promise<void>;
  /** Writes nothing more; resolves once nothing is in flight. */
  abandon(): Promise<void>;
}

export class HistoryWriter implements SliceWriter {
  private readonly thread: WorkerThread;
  /** Number of the last slice posted; 0 if all are committed. */
  private awaited = 0;
  private isOver = false;
  private readonly hurry = new SharedArrayBuffer(4);

  constructor(
    data: WriterData,
    private readonly events: WriterEvents,
    exitDeadline?: SharedArrayBuffer,
  ) {
    const { hurry } = this;
    const workerData: ThreadData = { ...data, exitDeadline, hurry };
    this.thread = startWorker("history", "./history-thread.js", import.meta.url, { workerData });
    const { worker, exited } = this.thread;
    worker.on("message", (message: FromWriter) => {
      if (message.kind === "written") this.onWritten(message);
      else if (message.kind === "failed") this.fail(message.message);
      else this.events.onSnapshot(message);
    });
    void exited.then(({ message }) => this.fail(message));
    // Keeps the process alive only while a slice is not committed.
    worker.unref();
  }

  write(slice: Slice, held: Held): void {
    if (this.isOver) return;
    if (this.awaited === 0) this.thread.worker.ref();
    this.awaited = slice.number;
    const bytes = slice.copy();
    const message: ToWriter = { kind: "write", number: slice.number, bytes, held };
    this.thread.worker.postMessage(message, [bytes.buffer]);
  }

  writeSnapshot(snapshot: TakenSnapshot): void {
    if (this.isOver) return;
    const message: ToWriter = { kind: "snapshot", snapshot };
    this.thread.worker.postMessage(
      message,
      snapshot.body.map(({ buffer }) => buffer),
    );
  }

  flush(): void {
    if (this.isOver) return;
    endRests(this.hurry);
    this.post({ kind: "flush" });
  }

  async close(): Promise<void> {
    this.isOver = true;
    this.thread.worker.ref();
    endRests(this.hurry);
    this.post({ kind: "close" });
    await this.thread.exited;
  }

  async abandon(): Promise<void> {
    this.isOver = true;
    await this.thread.worker.terminate();
  }

  private onWritten(written: Written): void {
    if (written.number === this.awaited && !this.isOver) {
      this.awaited = 0;
      this.thread.worker.unref();
    }
    this.events.onWritten(written);
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

/** Writes in the caller's thread, for tests and tools: starting a thread takes most of a short life. */
export class InlineWriter implements SliceWriter {
  private readonly writer: StoreWriter;

  constructor(
    data: WriterData,
    private readonly events: WriterEvents,
    exitDeadline?: SharedArrayBuffer,
  ) {
    this.writer = new StoreWriter({ ...data, exitDeadline }, (message) => this.onMessage(message));
  }

  write(slice: Slice, held: Held): void {
    void this.post({ kind: "write", number: slice.number, bytes: slice.copy(), held });
  }

  writeSnapshot(snapshot: TakenSnapshot): void {
    void this.post({ kind: "snapshot", snapshot });
  }

  flush(): void {
    void this.post({ kind: "flush" });
  }

  close(): Promise<void> {
    return this.post({ kind: "close" });
  }

  async abandon(): Promise<void> {
    this.writer.stop();
  }

  /** Not before the caller's next line, which may wait for what the message leads to. */
  private async post(message: ToWriter): Promise<void> {
    await undefined;
    this.writer.take(message);
  }

  private onMessage(message: FromWriter): void {
    if (message.kind === "written") this.events.onWritten(message);
    else if (message.kind !== "failed") this.events.onSnapshot(message);
    else this.events.onFailure(new Error(`the history cannot be written: ${message.message}`));
  }
}
