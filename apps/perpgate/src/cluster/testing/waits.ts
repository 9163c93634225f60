/** How long clients of a cluster waited, each judged by how late the machine was meanwhile. */

import { failIfOver, Lateness } from "@perpgate/cluster/testing";

/** Nobody waits for longer. */
export const LONGEST_WAIT_MS = 15_000;

export class Waits {
  private worstMs = 0;
  private readonly tooLong: string[] = [];
  private readonly endings: (() => void)[] = [];
  private readonly lateness = new Lateness((stop) => this.endings.push(stop));

  /** Notes how long the operation takes, however it ends. */
  async timed<T>(operation: () => Promise<T>): Promise<T> {
    const startedMs = performance.now();
    try {
      return await operation();
    } finally {
      this.note(startedMs);
    }
  }

  /** Notes, and returns, how long a client waited that began then and has an answer now. */
  note(startedMs: number): number {
    const waitedMs = performance.now() - startedMs;
    this.worstMs = Math.max(this.worstMs, waitedMs);
    const overrun = this.lateness.overrun(waitedMs, LONGEST_WAIT_MS, startedMs);
    if (overrun !== undefined) this.tooLong.push(overrun);
    return waitedMs;
  }

  /** Fails if anybody waited for too long. */
  expectShort(): void {
    failIfOver(this.tooLong);
  }

  stop(): void {
    for (const end of this.endings) end();
    const allowedMs = this.lateness.allowedSince();
    console.info(
      `waited at most ${Math.round(this.worstMs)} ms; ${Math.round(allowedMs)} ms were allowed for a late machine`,
    );
  }
}
