import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Delivery, Pulse, type PulseFeed } from "./pulse.js";

/** A feed that always has something for so many readers, each of which costs some time. */
class CostlyFeed implements PulseFeed {
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

describe("the pulse", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  async function beat(clock: Clock, feed: CostlyFeed, wakes: number): Promise<number[]> {
    const pulse = new Pulse((error) => {
      throw error;
    }, clock.now);
    for (let i = 0; i < wakes; i++) {
      pulse.wake(feed);
      await vi.advanceTimersByTimeAsync(1);
    }
    pulse.stop();
    return feed.rounds.slice(1).map((at, i) => at - (feed.rounds[i] ?? 0));
  }

  test("at most one round per 10 ms", async () => {
    const clock = new Clock();
    const gaps = await beat(clock, new CostlyFeed(clock, 1, 0), 200);
    expect(gaps.length).toBeGreaterThan(10);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(10);
    expect(Math.max(...gaps)).toBeLessThan(13);
  });

  test("rounds begin at least four times the time of the last one apart", async () => {
    const clock = new Clock();
    const gaps = await beat(clock, new CostlyFeed(clock, 1_000, 0.01), 400);
    expect(gaps.length).toBeGreaterThan(5);
    // Sums of hundredths are not exact.
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(40 - 1e-6);
  });

  test("a long round is spread over turns of the event loop", async () => {
    const clock = new Clock();
    const feed = new CostlyFeed(clock, 1_000, 0.01);
    const pulse = new Pulse(() => undefined, clock.now);
    pulse.wake(feed);
    vi.runOnlyPendingTimers();
    expect(feed.delivered).toBeGreaterThan(0);
    expect(feed.delivered).toBeLessThan(100);
    await vi.advanceTimersByTimeAsync(50);
    expect(feed.delivered).toBe(1_000);
    pulse.stop();
  });

  test("a feed that fails costs its own frame alone", async () => {
    const clock = new Clock();
    const faults: unknown[] = [];
    const pulse = new Pulse((error) => faults.push(error), clock.now);
    const good = new CostlyFeed(clock, 3, 0);
    pulse.wake({
      collect: () => {
        throw new Error("broken");
      },
    });
    pulse.wake(good);
    await vi.advanceTimersByTimeAsync(20);
    expect(faults).toHaveLength(1);
    expect(good.delivered).toBe(3);
    pulse.stop();
  });
});
