/** Between the end of a process and its next start: it grows, unless the process has run for long. */

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** A process that ran this long resets the pause. */
const RESET_AFTER_MS = 60_000;

export class RestartPause {
  private failures = 0;

  /** After a process that ran for so long. */
  nextMs(ranMs: number): number {
    if (ranMs > RESET_AFTER_MS) this.failures = 0;
    return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.failures++);
  }
}
