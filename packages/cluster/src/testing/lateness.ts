/**
 * How late the timers of this process run: what a busy machine adds to every time that a test measures.
 * A bound on such a time allows for it, up to a limit: a machine that is later cannot be judged on.
 */

const EVERY_MS = 10;
/** A step that is measured passes through several processes, each as late as this one. */
const PROCESSES = 8;
/** What is allowed at most. */
const MOST_ALLOWED_MS = 15_000;

interface LateTimer {
  readonly atMs: number;
  readonly byMs: number;
}

export class Lateness {
  /** Each later than all that follow, so that the first one after a moment is the worst since then. */
  private readonly worst: LateTimer[] = [];
  private lastMs: number;
  private isStopped = false;
  private readonly timer: NodeJS.Timeout;

  constructor(
    whenDone: (stop: () => void) => void,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.lastMs = nowMs();
    this.timer = setInterval(() => this.note(), EVERY_MS);
    whenDone(() => this.stop());
  }

  /** What is measured ends here. */
  stop(): void {
    this.note();
    this.isStopped = true;
    clearInterval(this.timer);
  }

  /** To be added to a bound on what was measured since that time of `performance.now`. */
  allowedSince(sinceMs = 0): number {
    this.note();
    return PROCESSES * (this.worst.find(({ atMs }) => atMs >= sinceMs)?.byMs ?? 0);
  }

  /** In which way a time that was measured is beyond its limit; undefined if it is not. */
  overrun(measuredMs: number, limitMs: number, sinceMs = 0): string | undefined {
    if (measuredMs < limitMs) return undefined;
    const allowedMs = this.allowedSince(sinceMs);
    if (allowedMs <= MOST_ALLOWED_MS && measuredMs < limitMs + allowedMs) return undefined;
    return `too late: ${shown(measuredMs)} instead of ${shown(limitMs)} and ${shown(allowedMs)} for a late machine`;
  }

  /** @throws {Error} `too late: ` if a time that was measured is beyond its limit */
  expectWithin(measuredMs: number, limitMs: number, sinceMs = 0): void {
    failIfLate(this.overrun(measuredMs, limitMs, sinceMs));
  }

  private note(): void {
    if (this.isStopped) return;
    const atMs = this.nowMs();
    const byMs = atMs - this.lastMs - EVERY_MS;
    this.lastMs = atMs;
    if (byMs <= 0) return;
    while ((this.worst.at(-1)?.byMs ?? Number.POSITIVE_INFINITY) <= byMs) this.worst.pop();
    this.worst.push({ atMs, byMs });
  }
}

/** Fails if the step takes longer than it may, on a machine as late as this one is meanwhile. */
export async function finishedWithin<T>(limitMs: number, step: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  let stop: () => void = () => undefined;
  const lateness = new Lateness((end) => {
    stop = end;
  });
  try {
    const done = await step();
    lateness.expectWithin(performance.now() - startedMs, limitMs);
    return done;
  } finally {
    stop();
  }
}

/** Throws what `overrun` has returned, if anything. */
export function failIfLate(overrun: string | undefined): void {
  if (overrun !== undefined) throw new Error(overrun);
}

function shown(ms: number): string {
  return `${Math.round(ms)} ms`;
}
