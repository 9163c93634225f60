/**
 * One watched list: what came since the last `next`, and what is kept.
 *
 * Nothing that comes between two calls of `next` is lost: the second returns it immediately. A key that comes
 * again replaces its entry, so a list of orders has each order's latest state.
 */

export class Feed<T> {
  private readonly kept = new Map<string, T>();
  private readonly unseen = new Map<string, T>();
  private waiting: { resolve(values: T[]): void; reject(error: unknown): void }[] = [];
  private failure: unknown;
  private isEnded = false;

  constructor(
    private readonly limit: number,
    /** Ends the subscription behind it. */
    private readonly leave: () => void,
  ) {}

  push(entries: Iterable<readonly [key: string, value: T]>): void {
    for (const [key, value] of entries) {
      for (const values of [this.kept, this.unseen]) {
        values.delete(key);
        values.set(key, value);
        const [oldest] = values.keys();
        if (values.size > this.limit && oldest !== undefined) values.delete(oldest);
      }
    }
    if (this.waiting.length === 0 || this.unseen.size === 0) return;
    const values = this.take();
    const waiting = this.waiting;
    this.waiting = [];
    for (const { resolve } of waiting) resolve(values);
  }

  /** What came since the last call, as soon as there is any. */
  next(): Promise<T[]> {
    if (this.isEnded) return Promise.reject(this.failure);
    if (this.unseen.size > 0) return Promise.resolve(this.take());
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
    });
  }

  /** Everything that is kept, oldest first. */
  all(): T[] {
    return [...this.kept.values()];
  }

  /** Rejects what waits and what comes. */
  end(reason: unknown): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.failure = reason;
    this.leave();
    for (const { reject } of this.waiting) reject(reason);
    this.waiting = [];
  }

  private take(): T[] {
    const values = [...this.unseen.values()];
    this.unseen.clear();
    return values;
  }
}
