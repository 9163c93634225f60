/** How much work of one kind a command may do; the rest is carried over to the next tick. */

export class WorkBudget {
  constructor(private left: number) {}

  /** Takes one unit; returns false if none is left. */
  take(): boolean {
    if (this.left === 0) return false;
    this.left--;
    return true;
  }
}
