/**
 * The beat of the public streams: at most one round of frames per 10 ms, and at most a quarter of
 * the thread, or an eighth while orders want it.
 *
 * A round asks every feed that has something new for its delivery: a frame made once and those who
 * get it. The writes are spread over turns of the event loop, so that an order never waits for a
 * thousand readers: a few hundred microseconds a turn in a quiet market, and only a handful of writes
 * while commands are being executed. An order needs the thread three times (to be read, when its
 * signature was checked, when it is durable), and would wait for a whole slice each time.
 *
 * The next round begins no sooner than four times the time that the last one spent after it began,
 * eight times if that one had to give way; what happens meanwhile is conflated into it. So more
 * readers make frames rarer, not orders slower.
 */

export interface Delivery {
  /** Hands the frame to the next reader; false when there is none left. */
  next(): boolean;
}

export interface PulseFeed {
  /** What is new since the last round, if anything. Called between two commands. */
  collect(): Delivery | undefined;
}

export const MIN_INTERVAL_MS = 10;
export const INTERVAL_PER_SPENT = 4;
/** After a round that met commands: a thread that is nearly full lets every order wait. */
export const INTERVAL_PER_SPENT_BESIDE_COMMANDS = 8;
/** Time that one turn may spend writing in a quiet market. */
const SLICE_MS = 0.4;
/** Writes between two looks at the clock, and the most of a turn while there are commands. */
export const LOOK_EVERY = 8;
/** For how long slices stay short after a command: where one was, the next is on its way. */
export const GIVE_WAY_MS = 5;

export class Pulse {
  private readonly dirty = new Set<PulseFeed>();
  private timer: NodeJS.Timeout | undefined;
  private turn: NodeJS.Immediate | undefined;
  private deliveries: Delivery[] = [];
  private startedAt = Number.NEGATIVE_INFINITY;
  private spentMs = 0;
  /** Until when orders are taken to want the thread. */
  private givesWayUntil = Number.NEGATIVE_INFINITY;
  /** Whether the last round, or the one under way, met commands. */
  private hasGivenWay = false;
  private isStopped = false;

  constructor(
    private readonly onFault: (error: unknown) => void,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  /** Milliseconds that the last round, or the one under way, has spent. */
  get lastSpentMs(): number {
    return this.spentMs;
  }

  /** The feed has something new. */
  wake(feed: PulseFeed): void {
    if (this.isStopped) return;
    this.dirty.add(feed);
    this.schedule();
  }

  /** A command was executed: whoever sent it waits for the answer, and others for theirs. */
  giveWay(): void {
    // Between two rounds there is nothing to cut short.
    if (this.deliveries.length === 0) return;
    this.givesWayUntil = this.monotonic() + GIVE_WAY_MS;
    this.hasGivenWay = true;
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    clearImmediate(this.turn);
  }

  private get isUnderWay(): boolean {
    return this.turn !== undefined || this.deliveries.length > 0;
  }

  private schedule(): void {
    if (this.timer !== undefined || this.isUnderWay || this.dirty.size === 0) return;
    const perSpent = this.hasGivenWay ? INTERVAL_PER_SPENT_BESIDE_COMMANDS : INTERVAL_PER_SPENT;
    const interval = Math.max(MIN_INTERVAL_MS, perSpent * this.spentMs);
    const delay = Math.ceil(this.startedAt + interval - this.monotonic());
    if (delay > 0) this.timer = setTimeout(() => this.begin(), delay);
    // Not at once: a round within the command's own turn would delay its acknowledgement.
    else this.turn = setImmediate(() => this.begin());
  }

  private begin(): void {
    this.timer = undefined;
    this.startedAt = this.monotonic();
    this.spentMs = 0;
    this.hasGivenWay = false;
    const feeds = [...this.dirty];
    this.dirty.clear();
    for (const feed of feeds) {
      const delivery = this.guarded(() => feed.collect());
      if (delivery !== undefined) this.deliveries.push(delivery);
    }
    this.spentMs += this.monotonic() - this.startedAt;
    this.continue();
  }

  private continue(): void {
    this.turn = undefined;
    const began = this.monotonic();
    const end = began < this.givesWayUntil ? began : began + SLICE_MS;
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

  /** A few writes, whoever's they are: many feeds with a reader each are as one with many. */
  private deliverSome(): void {
    const { deliveries } = this;
    try {
      for (let i = 0; i < LOOK_EVERY && deliveries.length > 0; i++) {
        if (!deliveries[0]!.next()) deliveries.shift();
      }
    } catch (error) {
      deliveries.shift();
      this.onFault(error);
    }
  }

  /** A fault of one feed costs its frame, not the others'. */
  private guarded<T>(step: () => T): T | undefined {
    try {
      return step();
    } catch (error) {
      this.onFault(error);
      return undefined;
    }
  }
}
