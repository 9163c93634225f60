/** How much work of a kind one command may do; the rest is carried over to the next tick. */

export class WorkBudget {
  constructor(private left: number) {}

  /** Whether one more may be done; if so it counts. */
  take(): boolean {
    if (this.left === 0) return false;
    this.left--;
    return true;
  }
}
