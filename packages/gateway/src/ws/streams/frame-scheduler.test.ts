import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Delivery,
  FrameScheduler,
  type ScheduledFeed,
  SHORT_SLICES_MS,
  WRITES_PER_CLOCK_READ,
} from "./frame-scheduler.js";

/** A feed that always has a frame for `readers` readers, each of which takes `costMs`. */
class CostlyFeed implements ScheduledFeed {
  readonly rounds: number[] = [];
  delivered = 0;

  constructor(
    private readonly clock: Clock,
    private readonly readers: number,
    private readonly costMs: number,
  ) {}

  collect(): Delivery {
    this.rounds.push(this.clock.now());
    let left = this.readers;
    return {
      next: () => {
        if (left === 0) return false;
        left--;
        this.clock.spend(this.costMs);
        this.delivered++;
        return true;
      },
    };
  }
}

/** The fake timers' time plus what the work itself has taken. */
class Clock {
  private spentMs = 0;
  readonly now = (): number => performance.now() + this.spentMs;

  spend(ms: number): void {
    this.spentMs += ms;
  }
}

function fail(error: unknown): never {
  throw error;
}

/** A scheduler and a feed whose readers take 0.01 ms each. */
function slowRound(readers: number): { clock: Clock; feed: CostlyFeed; scheduler: FrameScheduler } {
  const clock = new Clock();
  const feed = new CostlyFeed(clock, readers, 0.01);
  return { clock, feed, scheduler: new FrameScheduler(fail, clock.now) };
}

describe("FrameScheduler", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  async function roundGaps(clock: Clock, feed: CostlyFeed, marks: number): Promise<number[]> {
    const scheduler = new FrameScheduler(fail, clock.now);
    for (let i = 0; i < marks; i++) {
      scheduler.markDirty(feed);
      await vi.advanceTimersByTimeAsync(1);
      for (let turns = 0; turns < 30; turns++) await setImmediate();
    }
    scheduler.stop();
    return feed.rounds.slice(1).map((at, i) => at - (feed.rounds[i] ?? 0));
  }

  test("at most one round per 10 ms", async () => {
    const clock = new Clock();
    const gaps = await roundGaps(clock, new CostlyFeed(clock, 1, 0), 200);
    expect(gaps.length).toBeGreaterThan(10);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(10);
    expect(Math.max(...gaps)).toBeLessThan(13);
  });

  test("rounds begin at least four times the time of the last one apart", async () => {
    const clock = new Clock();
    const gaps = await roundGaps(clock, new CostlyFeed(clock, 1_000, 0.01), 400);
    expect(gaps.length).toBeGreaterThan(5);
    // Sums of hundredths are not exact.
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(40 - 1e-6);
  });

  test("after a round that met commands, at least eight times its time", async () => {
    const { clock, feed, scheduler } = slowRound(1_000);
    scheduler.markDirty(feed);
    await setImmediate();
    scheduler.onCommand();
    while (feed.delivered < 1_000) await setImmediate();
    scheduler.markDirty(feed);
    await vi.advanceTimersByTimeAsync(8 * 10 - 10 - 1);
    expect(feed.rounds).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(2);
    expect(feed.rounds).toHaveLength(2);
    const [first = 0, second = 0] = feed.rounds;
    expect(second - first).toBeGreaterThanOrEqual(80 - 1e-6);
    // No commands during this round.
    while (feed.delivered < 2_000) await setImmediate();
    scheduler.markDirty(feed);
    await vi.advanceTimersByTimeAsync(4 * 10 - 10 + 1);
    expect(feed.rounds).toHaveLength(3);
    expect(clock.now() - second).toBeLessThan(80);
    scheduler.stop();
  });

  test("a long round is spread over turns of the event loop", async () => {
    const { feed, scheduler } = slowRound(1_000);
    scheduler.markDirty(feed);
    await setImmediate();
    expect(feed.delivered).toBeGreaterThan(WRITES_PER_CLOCK_READ);
    expect(feed.delivered).toBeLessThan(100);
    while (feed.delivered < 1_000) await setImmediate();
    scheduler.stop();
    expect(scheduler.lastSpentMs).toBeCloseTo(10, 6);
  });

  test("commands during a round: a turn writes to a handful of readers", async () => {
    const { clock, feed, scheduler } = slowRound(1_000);
    scheduler.markDirty(feed);
    await setImmediate();
    expect(feed.delivered).toBeGreaterThan(WRITES_PER_CLOCK_READ);
    const perTurn: number[] = [];
    while (feed.delivered < 900) {
      clock.spend(0.1);
      scheduler.onCommand();
      const before = feed.delivered;
      await setImmediate();
      perTurn.push(feed.delivered - before);
    }
    expect(perTurn.every((count) => count === WRITES_PER_CLOCK_READ)).toBe(true);
    // What the commands took is not the round's own time.
    while (feed.delivered < 1_000) await setImmediate();
    expect(scheduler.lastSpentMs).toBeCloseTo(10, 6);
    scheduler.stop();
  });

  test("some time after the last command, slices are long again", async () => {
    const { feed, scheduler } = slowRound(2_000);
    scheduler.markDirty(feed);
    await setImmediate();
    scheduler.onCommand();
    const perTurn: number[] = [];
    while (feed.delivered < 2_000) {
      const before = feed.delivered;
      await setImmediate();
      perTurn.push(feed.delivered - before);
    }
    scheduler.stop();
    const short = perTurn.findIndex((count) => count > WRITES_PER_CLOCK_READ);
    expect(short * WRITES_PER_CLOCK_READ * 0.01).toBeGreaterThanOrEqual(SHORT_SLICES_MS - 1e-6);
    expect(short * WRITES_PER_CLOCK_READ * 0.01).toBeLessThan(SHORT_SLICES_MS + 1);
    expect(Math.max(...perTurn)).toBeGreaterThan(4 * WRITES_PER_CLOCK_READ);
  });

  test("commands between two rounds do not shorten the next one's slices", async () => {
    const { feed, scheduler } = slowRound(1_000);
    scheduler.onCommand();
    scheduler.markDirty(feed);
    scheduler.onCommand();
    await setImmediate();
    expect(feed.delivered).toBeGreaterThan(WRITES_PER_CLOCK_READ);
    scheduler.stop();
  });

  test("a feed that fails while it is handed out costs its own frame alone", async () => {
    const clock = new Clock();
    const faults: unknown[] = [];
    const scheduler = new FrameScheduler((error) => faults.push(error), clock.now);
    const good = new CostlyFeed(clock, 30, 0);
    let steps = 0;
    const next = (): boolean => {
      if (++steps === 3) throw new Error("broken");
      return true;
    };
    scheduler.markDirty({ collect: () => ({ next }) });
    scheduler.markDirty(good);
    while (good.delivered < 30) await setImmediate();
    expect(faults).toHaveLength(1);
    expect(steps).toBe(3);
    scheduler.markDirty(good);
    await vi.advanceTimersByTimeAsync(20);
    while (good.delivered < 60) await setImmediate();
    scheduler.stop();
  });

  test("many feeds with a reader each take no more turns than one with as many readers", async () => {
    const clock = new Clock();
    const scheduler = new FrameScheduler(() => undefined, clock.now);
    const feeds = Array.from({ length: 200 }, () => new CostlyFeed(clock, 1, 0.01));
    for (const feed of feeds) scheduler.markDirty(feed);
    const handedOut = () => feeds.reduce((sum, { delivered }) => sum + delivered, 0);
    await setImmediate();
    let turns = 0;
    for (; handedOut() < feeds.length; turns++) {
      scheduler.onCommand();
      await setImmediate();
    }
    scheduler.stop();
    // Two steps a feed: to its reader, and to find that there is no other.
    expect(turns).toBeLessThanOrEqual((2 * feeds.length) / WRITES_PER_CLOCK_READ);
  });

  test("a feed that fails costs its own frame alone", async () => {
    const clock = new Clock();
    const faults: unknown[] = [];
    const scheduler = new FrameScheduler((error) => faults.push(error), clock.now);
    const good = new CostlyFeed(clock, 3, 0);
    scheduler.markDirty({
      collect: () => {
        throw new Error("broken");
      },
    });
    scheduler.markDirty(good);
    while (good.delivered < 3) await setImmediate();
    expect(faults).toHaveLength(1);
    expect(good.delivered).toBe(3);
    scheduler.stop();
  });
});
