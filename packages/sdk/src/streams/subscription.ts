/** What `watch…` returns, and how several watches share one stream. */

/** A watch that runs until it is closed. */
export interface Subscription {
  /** The stream's name, such as `book.BTCUSD`. */
  readonly stream: string;
  /** Resolves with the first confirmation; rejects if the stream is refused. */
  readonly ready: Promise<void>;
  /** Ends it; nothing is called any more. */
  close(): void;
}

export type ProblemKind =
  /** A frame was missed; the stream heals itself. */
  | "gap"
  /** All frames came, and yet the copy differs; the stream heals itself. */
  | "checksum_mismatch"
  /** A frame that cannot be read. */
  | "malformed"
  /** The connection is lost; it is made again by itself. */
  | "disconnected"
  /** The stream is over: it does not exist, or the session has ended. */
  | "refused";

export interface StreamProblem {
  readonly kind: ProblemKind;
  readonly stream: string;
  /** Why, where it was refused. */
  readonly error?: Error;
}

export interface WatchOptions {
  /** Called when something is wrong with the stream; most of it heals by itself. */
  readonly onProblem?: (problem: StreamProblem) => void;
}

export interface Watcher<T> {
  readonly callback: (value: T) => void;
  readonly options: WatchOptions;
}

interface Seat<T> extends Watcher<T> {
  begin(): void;
  refuse(error: Error): void;
}

/** The watches of one stream. */
export class Audience<T> {
  private readonly seats = new Set<Seat<T>>();
  private isBegun = false;

  constructor(
    readonly stream: string,
    private readonly onEmpty: () => void,
  ) {}

  /** `first` is what a latecomer is shown, if there is anything to show. */
  join(watcher: Watcher<T>, first: () => T | undefined = () => undefined): Subscription {
    let begin: () => void = () => undefined;
    let refuse: (error: Error) => void = () => undefined;
    const ready = new Promise<void>((resolve, reject) => {
      begin = resolve;
      refuse = reject;
    });
    // Who does not look at it has chosen not to know.
    ready.catch(() => undefined);
    const seat: Seat<T> = { ...watcher, begin, refuse };
    this.seats.add(seat);
    if (this.isBegun) begin();
    const value = first();
    if (value !== undefined) {
      queueMicrotask(() => {
        if (this.seats.has(seat)) call(() => watcher.callback(value));
      });
    }
    return { stream: this.stream, ready, close: () => this.leave(seat) };
  }

  begin(): void {
    this.isBegun = true;
    for (const seat of this.seats) seat.begin();
  }

  tell(value: T): void {
    for (const { callback } of [...this.seats]) call(() => callback(value));
  }

  report(kind: ProblemKind, error?: Error): void {
    const problem = { kind, stream: this.stream, ...(error === undefined ? {} : { error }) };
    for (const { options } of [...this.seats]) call(() => options.onProblem?.(problem));
  }

  refuse(error: Error): void {
    this.report("refused", error);
    for (const seat of this.seats) seat.refuse(error);
    this.seats.clear();
    this.onEmpty();
  }

  private leave(seat: Seat<T>): void {
    if (this.seats.delete(seat) && this.seats.size === 0) this.onEmpty();
  }
}

/** A callback that throws does so where its owner sees it, and not into the stream. */
export function call(run: () => void): void {
  try {
    run();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
