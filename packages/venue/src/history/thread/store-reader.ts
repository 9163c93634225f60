/**
 * The venue's side of the thread that reads the store for reads of the past (reader-thread.ts). A disk that does
 * not answer holds up that thread and the reads that wait for it, and nothing else.
 */
import { startWorker, type WorkerThread } from "@perpgate/journal/worker";
import { HistoryDamaged } from "../../venue-errors.js";
import type { Entry } from "../row-codecs.js";
import { eachEntry } from "../slice.js";
import type { FetchedRows, Want } from "../store-read.js";
import type { FetchAnswer, FetchRequest } from "./row-fetch.js";

/** Requests that the thread has at once: it begins the next one without waiting for this thread. */
const MOST_ASKED = 4;
/** Reads that wait for their turn; further ones are refused. */
const MOST_WAITING = 1_024;
/** What a read waits for its rows at most. */
const FETCH_MS = 5_000;
/** What closing waits for a thread that the disk holds up. */
const CLOSE_MS = 2_000;

interface Fetch {
  readonly wants: ReadonlyMap<string, Want>;
  readonly rows: FetchedRows;
  readonly resolve: (position: number) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

export interface ReaderEvents {
  /** Of a read that is refused because the disk, or the thread, is too slow. */
  onLate(): Error;
  onStopped(): Error;
  /** The thread has ended without being closed. */
  onFailure(error: Error): void;
}

export class StoreReader {
  private readonly thread: WorkerThread;
  private waiting: Fetch[] = [];
  /** By id; undefined: it came too late, and its answer is thrown away. */
  private readonly asked = new Map<number, Fetch | undefined>();
  private lastId = 0;
  private isOver = false;
  private onClosed: () => void = () => undefined;

  /** Reads the store in `directory`, which must be there. */
  constructor(
    directory: string,
    private readonly events: ReaderEvents,
  ) {
    this.thread = startWorker("reader", "./reader-thread.js", import.meta.url, {
      workerData: directory,
    });
    const { worker, exited } = this.thread;
    worker.on("message", (answer: FetchAnswer | "closed") => {
      if (answer === "closed") this.onClosed();
      else this.onAnswer(answer);
    });
    void exited.then(({ message }) => {
      if (!this.isOver) events.onFailure(new Error(`the history cannot be read: ${message}`));
    });
    worker.unref();
  }

  /**
   * Fetches what a read is missing. Resolves with the seq of the last command of which the store had the rows
   * then: at least that of the last one known to be on disk now.
   */
  fetch(rows: FetchedRows): Promise<number> {
    const { events, waiting } = this;
    if (this.isOver) return Promise.reject(events.onStopped());
    if (waiting.length >= MOST_WAITING) return Promise.reject(events.onLate());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.giveUp(fetch), FETCH_MS);
      const fetch: Fetch = { wants: rows.takeWants(), rows, resolve, reject, timer };
      waiting.push(fetch);
      this.ask();
    });
  }

  /**
   * Resolves once the thread's connection is closed. Reads that wait are refused. A thread that the disk holds up is
   * left to the end of the process.
   */
  async close(): Promise<void> {
    this.stop();
    let timer: NodeJS.Timeout | undefined;
    const closed = new Promise<void>((resolve) => {
      this.onClosed = resolve;
      timer = setTimeout(resolve, CLOSE_MS);
    });
    this.thread.worker.postMessage("close");
    await Promise.race([this.thread.exited, closed]);
    clearTimeout(timer);
  }

  /** For a process that has failed. */
  abandon(): void {
    this.stop();
    void this.thread.worker.terminate();
  }

  private stop(): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const fetch of [...this.waiting.splice(0), ...this.asked.values()]) {
      if (fetch === undefined) continue;
      clearTimeout(fetch.timer);
      fetch.reject(this.events.onStopped());
    }
    this.asked.clear();
  }

  private ask(): void {
    while (this.asked.size < MOST_ASKED) {
      const fetch = this.waiting.shift();
      if (fetch === undefined) return;
      const id = ++this.lastId;
      this.asked.set(id, fetch);
      const request: FetchRequest = { id, wants: [...fetch.wants.values()] };
      this.thread.worker.postMessage(request);
    }
  }

  private giveUp(fetch: Fetch): void {
    this.waiting = this.waiting.filter((each) => each !== fetch);
    for (const [id, each] of this.asked) if (each === fetch) this.asked.set(id, undefined);
    fetch.reject(this.events.onLate());
  }

  private onAnswer(answer: FetchAnswer): void {
    const fetch = this.asked.get(answer.id);
    this.asked.delete(answer.id);
    this.ask();
    if (fetch === undefined) return;
    clearTimeout(fetch.timer);
    if (answer.failure !== undefined) {
      const { reason, isDamage } = answer.failure;
      fetch.reject(isDamage ? new HistoryDamaged(reason) : new Error(reason));
      return;
    }
    const entries: Entry[] = [];
    const { buffer, byteOffset, length } = answer.bytes;
    eachEntry(Buffer.from(buffer, byteOffset, length), (_, key, value) => {
      entries.push({ key, value });
    });
    let at = 0;
    for (const [i, [name, want]] of [...fetch.wants].entries()) {
      const count = answer.counts[i] ?? 0;
      fetch.rows.add(name, want, entries.slice(at, at + count));
      at += count;
    }
    fetch.resolve(answer.position);
  }
}
