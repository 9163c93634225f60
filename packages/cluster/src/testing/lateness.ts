/**
 * How late the timers of this process run: what a busy machine adds to every time that a test measures.
 * A bound on such a time allows for it, up to a limit: a machine that is later cannot be judged on.
 *
 *   below limit + allowance     passes
 *   beyond, timers in time      `missed: `, a failed assertion
 *   beyond, timers late         `too late: `, a time-out, which the test runner repeats once
 */

const EVERY_MS = 10;
/** A step that is measured passes through several processes, each as late as this one. */
const PROCESSES = 8;
/** What is allowed at most. */
const MOST_ALLOWED_MS = 15_000;
/** Share of a limit: a machine for which more is allowed is late, and a limit it exceeds is not missed. */
const LATE_SHARE = 0.5;
const MISSED = "missed";

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

  /**
   * In which way a time that was measured is beyond its limit; undefined if it is not. Begins with
   * `too late: `, which the test runner repeats, only where the machine cannot be judged on.
   */
  overrun(measuredMs: number, limitMs: number, sinceMs = 0): string | undefined {
    if (measuredMs < limitMs) return undefined;
    const allowedMs = this.allowedSince(sinceMs);
    if (allowedMs <= MOST_ALLOWED_MS && measuredMs < limitMs + allowedMs) return undefined;
    const isLate = allowedMs > Math.min(limitMs * LATE_SHARE, MOST_ALLOWED_MS);
    return `${isLate ? "too late" : MISSED}: ${shown(measuredMs)} instead of ${shown(limitMs)} and ${shown(allowedMs)} for a late machine`;
  }

  /** @throws {Error} what `overrun` returns, if anything */
  expectWithin(measuredMs: number, limitMs: number, sinceMs = 0): void {
    failIfOver([this.overrun(measuredMs, limitMs, sinceMs)]);
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

/**
 * Fails if the step takes longer than it may, on a machine as late as this one is meanwhile. One that takes
 * longer than could be allowed is not waited for; `describe` says what is known of it.
 */
export async function finishedWithin<T>(
  limitMs: number,
  step: () => Promise<T>,
  describe: () => string = () => "",
): Promise<T> {
  const endings: (() => void)[] = [];
  const startedMs = performance.now();
  const lateness = new Lateness((stop) => endings.push(stop));
  const gaveUp = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, limitMs + MOST_ALLOWED_MS);
    endings.push(() => clearTimeout(timer));
  });
  try {
    const done = await Promise.race([step().then((value) => ({ value })), gaveUp]);
    const overrun = lateness.overrun(performance.now() - startedMs, limitMs);
    if (done !== undefined && overrun === undefined) return done.value;
    throw new Error(`${overrun}${describe()}`);
  } finally {
    for (const end of endings) end();
  }
}

/** Throws one of what `overrun` has returned, if anything: a limit that was missed first. */
export function failIfOver(overruns: readonly (string | undefined)[]): void {
  const found = overruns.filter((each) => each !== undefined);
  const worst = found.find((each) => each.startsWith(MISSED)) ?? found[0];
  if (worst !== undefined) throw new Error(worst);
}

function shown(ms: number): string {
  return `${Math.round(ms)} ms`;
}
