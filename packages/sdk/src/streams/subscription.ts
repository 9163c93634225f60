/** The result of `watch…`, and the watches that share one stream. */

import { ConnectionError } from "../errors.js";

/** A watch; it runs until it is closed. */
export interface Subscription {
  /** The stream's name, such as `book.BTCUSD`. */
  readonly stream: string;
  /** Resolves when the subscription is confirmed; rejects if the stream is refused or the watch closed. */
  readonly ready: Promise<void>;
  /** Ends the watch; no callback runs after this. */
  close(): void;
}

export type ProblemKind =
  /** Frames were missed; a book is repaired, trades and blocks are to be read with a request. */
  | "gap"
  /** No frame was missed, and the copy still differs; the stream is repaired. */
  | "checksum_mismatch"
  /** A frame that cannot be decoded. */
  | "malformed"
  /** The connection was lost; it is opened again. */
  | "disconnected"
  /** The stream is over: it does not exist, or the session has ended. */
  | "refused";

export interface StreamProblem {
  readonly kind: ProblemKind;
  readonly stream: string;
  /** Why it was refused. */
  readonly error?: Error;
}

export interface WatchOptions {
  /** Called on a problem of the stream; most are repaired without your help. */
  readonly onProblem?: (problem: StreamProblem) => void;
}

export interface Watcher<T> {
  readonly callback: (value: T) => void;
  readonly options: WatchOptions;
}

interface Entry<T> extends Watcher<T> {
  begin(): void;
  refuse(error: Error): void;
}

/** The watches of one stream. */
export class Watchers<T> {
  private readonly entries = new Set<Entry<T>>();
  private isBegun = false;

  constructor(
    readonly stream: string,
    private readonly onEmpty: () => void,
  ) {}

  /** `first` is the state that a later watch gets first, if any. */
  join(watcher: Watcher<T>, first: () => T | undefined = () => undefined): Subscription {
    let begin: () => void = () => undefined;
    let refuse: (error: Error) => void = () => undefined;
    const ready = new Promise<void>((resolve, reject) => {
      begin = resolve;
      refuse = reject;
    });
    // A caller that does not use `ready` must not get an unhandled rejection.
    ready.catch(() => undefined);
    const entry: Entry<T> = { ...watcher, begin, refuse };
    this.entries.add(entry);
    if (this.isBegun) begin();
    const value = first();
    if (value !== undefined) {
      queueMicrotask(() => {
        if (this.entries.has(entry)) callSafely(() => watcher.callback(value));
      });
    }
    return { stream: this.stream, ready, close: () => this.leave(entry) };
  }

  begin(): void {
    this.isBegun = true;
    for (const entry of this.entries) entry.begin();
  }

  notify(value: T): void {
    this.each(({ callback }) => callback(value));
  }

  report(kind: ProblemKind, error?: Error): void {
    const problem = { kind, stream: this.stream, ...(error === undefined ? {} : { error }) };
    this.each(({ options }) => options.onProblem?.(problem));
  }

  /** A callback may close other watches. */
  private each(call: (entry: Entry<T>) => void): void {
    for (const entry of [...this.entries]) {
      if (this.entries.has(entry)) callSafely(() => call(entry));
    }
  }

  refuse(error: Error): void {
    // First: a callback of the report may close the watch, which rejects with another error.
    for (const entry of this.entries) entry.refuse(error);
    this.report("refused", error);
    this.entries.clear();
    this.onEmpty();
  }

  private leave(entry: Entry<T>): void {
    // No effect on a watch that has begun.
    entry.refuse(
      new ConnectionError("the watch was closed", { outcome: "not_sent", isFinal: true }),
    );
    if (this.entries.delete(entry) && this.entries.size === 0) this.onEmpty();
  }
}

/** An error of a callback becomes an unhandled error, and does not stop the stream. */
export function callSafely(run: () => void): void {
  try {
    run();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
