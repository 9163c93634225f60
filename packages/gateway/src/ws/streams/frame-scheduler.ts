/**
 * Sends the frames of the public streams in rounds: at most one round per 10 ms, and at most a quarter
 * of the thread's time, or an eighth while commands are executed.
 *
 * A round collects a delivery from each feed that has something new: one encoded frame and its readers.
 * The writes are spread over turns of the event loop, so that an order never waits for a thousand
 * readers: `SLICE_MS` per turn, or `WRITES_PER_CLOCK_READ` writes per turn while commands are executed.
 * An order needs the thread three times (to be read, to be submitted after its signature check, to be
 * acknowledged) and may wait for one slice each time.
 *
 * The next round begins no sooner than 4 × the time that the last round spent after the last round
 * began, 8 × if commands were executed during it. Changes in between are conflated. More readers
 * therefore make frames rarer, not orders slower.
 */

export interface Delivery {
  /** Writes the frame to the next reader; false when no reader is left. */
  next(): boolean;
}

export interface ScheduledFeed {
  /** What is new since the last round, if anything. Called between two commands. */
  collect(): Delivery | undefined;
}

const MIN_INTERVAL_MS = 10;
const INTERVAL_PER_SPENT = 4;
const INTERVAL_PER_SPENT_WITH_COMMANDS = 8;
/** Time that one turn may spend writing while no command is executed. */
const SLICE_MS = 0.4;
/** Writes between two reads of the clock, and per turn while commands are executed. */
export const WRITES_PER_CLOCK_READ = 8;
/** How long slices stay short after a command: commands come in bursts. */
export const SHORT_SLICES_MS = 5;

export class FrameScheduler {
  private dirty = new Set<ScheduledFeed>();
  private timer: NodeJS.Timeout | undefined;
  private turn: NodeJS.Immediate | undefined;
  /** Of the running round; empty between rounds. */
  private deliveries: Delivery[] = [];
  private startedAt = Number.NEGATIVE_INFINITY;
  private spentMs = 0;
  private shortSlicesUntil = Number.NEGATIVE_INFINITY;
  /** Whether a command was executed during the current or last round. */
  private metCommand = false;
  private isStopped = false;

  constructor(
    private readonly onFault: (error: unknown) => void,
    private readonly monotonic: () => number = () => performance.now(),
    /** Whether a client waits for an answer of the core. */
    private readonly isAwaited: () => boolean = () => false,
  ) {}

  /** Milliseconds spent by the current or last round. */
  get lastSpentMs(): number {
    return this.spentMs;
  }

  /** Includes the feed in the next round. */
  markDirty(feed: ScheduledFeed): void {
    if (this.isStopped) return;
    this.dirty.add(feed);
    this.schedule();
  }

  /** A command was executed: its sender waits for the answer, so a running round shortens its slices. */
  onCommand(): void {
    if (this.deliveries.length === 0) return;
    this.shortSlicesUntil = this.monotonic() + SHORT_SLICES_MS;
    this.metCommand = true;
  }

  /** Runs what must not fail either. */
  attempt(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.onFault(error);
    }
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    clearImmediate(this.turn);
  }

  private schedule(): void {
    const isRunning = this.turn !== undefined || this.deliveries.length > 0;
    if (this.timer !== undefined || isRunning || this.dirty.size === 0) return;
    const perSpent = this.metCommand ? INTERVAL_PER_SPENT_WITH_COMMANDS : INTERVAL_PER_SPENT;
    const interval = Math.max(MIN_INTERVAL_MS, perSpent * this.spentMs);
    const delay = Math.ceil(this.startedAt + interval - this.monotonic());
    if (delay > 0) this.timer = setTimeout(() => this.begin(), delay);
    // Not synchronously: a round inside the command's own turn would delay its acknowledgement.
    else this.turn = setImmediate(() => this.begin());
  }

  private begin(): void {
    this.timer = undefined;
    this.startedAt = this.monotonic();
    this.spentMs = 0;
    this.metCommand = false;
    const feeds = this.dirty;
    this.dirty = new Set();
    for (const feed of feeds) {
      // A feed that fails loses its frame; the others do not.
      this.attempt(() => {
        const delivery = feed.collect();
        if (delivery !== undefined) this.deliveries.push(delivery);
      });
    }
    this.spentMs += this.monotonic() - this.startedAt;
    this.continue();
  }

  private continue(): void {
    this.turn = undefined;
    if (this.isAwaited()) this.onCommand();
    const began = this.monotonic();
    const end = began < this.shortSlicesUntil ? began : began + SLICE_MS;
    let now = began;
    do {
      this.deliverSome();
      now = this.monotonic();
    } while (this.deliveries.length > 0 && now < end);
    this.spentMs += now - began;
    if (this.isStopped) return;
    if (this.deliveries.length > 0) this.turn = setImmediate(() => this.continue());
    else this.schedule();
  }

  /** Counts writes across feeds: many feeds with one reader cost as much as one feed with many. */
  private deliverSome(): void {
    const { deliveries } = this;
    try {
      for (let i = 0; i < WRITES_PER_CLOCK_READ && deliveries.length > 0; i++) {
        if (!deliveries[0]!.next()) deliveries.shift();
      }
    } catch (error) {
      deliveries.shift();
      this.onFault(error);
    }
  }
}
