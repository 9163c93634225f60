/** How much work of one kind a command may do; the rest waits for the next tick. */

export class WorkBudget {
  constructor(private remaining: number) {}

  get left(): number {
    return this.remaining;
  }

  /** Takes one unit; returns false if none is left. */
  take(): boolean {
    if (this.remaining === 0) return false;
    this.remaining--;
    return true;
  }
}
