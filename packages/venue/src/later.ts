/** What needs the history's store, which may still be rebuilt when the venue opens. */
import type { Checkpointer } from "./checkpoint/checkpointer.js";
import type { Rebuilder } from "./recovery/rebuilder.js";

export class Later {
  rebuilder: Rebuilder | undefined;
  checkpointer: Checkpointer | undefined;
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

  async close(): Promise<void> {
    this.steps.splice(0);
    await this.rebuilder?.close();
    await this.checkpointer?.close();
  }

  async abandon(): Promise<void> {
    this.steps.splice(0);
    await this.rebuilder?.abandon();
  }
}
