/** Many may be inside at once, or one alone. Who wants to be alone is not kept waiting by newcomers. */

export class Gate {
  private inside = 0;
  private waiting: (() => void)[] = [];
  /** Ends when the last one that wants to be alone is done. */
  private solitude: Promise<unknown> | undefined;

  async enter<T>(run: () => Promise<T>): Promise<T> {
    while (this.solitude !== undefined) await this.solitude.catch(() => undefined);
    this.inside++;
    try {
      return await run();
    } finally {
      this.inside--;
      if (this.inside === 0) for (const resolve of this.waiting.splice(0)) resolve();
    }
  }

  alone<T>(run: () => Promise<T>): Promise<T> {
    const before = this.solitude?.catch(() => undefined) ?? this.empty();
    const mine = before.then(run);
    this.solitude = mine;
    const done = () => {
      if (this.solitude === mine) this.solitude = undefined;
    };
    mine.then(done, done);
    return mine;
  }

  private empty(): Promise<void> {
    if (this.inside === 0) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
