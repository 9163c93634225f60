/** A lock with many shared holders or one exclusive holder. A waiting exclusive holder goes first. */

export class SharedLock {
  private holders = 0;
  private waiting: (() => void)[] = [];
  /** Settles when the last exclusive holder is done. */
  private exclusiveEnd: Promise<unknown> | undefined;

  async shared<T>(run: () => Promise<T>): Promise<T> {
    while (this.exclusiveEnd !== undefined) await this.exclusiveEnd.catch(() => undefined);
    this.holders++;
    try {
      return await run();
    } finally {
      this.holders--;
      if (this.holders === 0) for (const resolve of this.waiting.splice(0)) resolve();
    }
  }

  exclusive<T>(run: () => Promise<T>): Promise<T> {
    const before = this.exclusiveEnd?.catch(() => undefined) ?? this.empty();
    const mine = before.then(run);
    this.exclusiveEnd = mine;
    const done = () => {
      if (this.exclusiveEnd === mine) this.exclusiveEnd = undefined;
    };
    mine.then(done, done);
    return mine;
  }

  private empty(): Promise<void> {
    if (this.holders === 0) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
