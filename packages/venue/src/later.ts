/** What needs the history's store, which may still be rebuilt when the venue opens. */
export class Later {
  private hasBegun = false;
  private readonly steps: (() => void)[] = [];

  /** Runs the step now or, if the store is not there yet, then. */
  add(step: () => void): void {
    if (this.hasBegun) step();
    else this.steps.push(step);
  }

  begin(): void {
    this.hasBegun = true;
    for (const step of this.steps.splice(0)) step();
  }

  cancel(): void {
    this.steps.splice(0);
  }
}
