import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TokenBuckets } from "./token-buckets.js";

/** The textbook bucket, in thousandths of a token so that sums are exact. */
class NaiveBucket {
  private milliTokens: number;
  private lastMs = 0;

  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
  ) {
    this.milliTokens = burst * 1_000;
  }

  take(nowMs: number): { isAllowed: boolean; remaining: number } {
    const dripped = (nowMs - this.lastMs) * this.perSecond;
    this.milliTokens = Math.min(this.burst * 1_000, this.milliTokens + dripped);
    this.lastMs = nowMs;
    const isAllowed = this.milliTokens >= 1_000;
    if (isAllowed) this.milliTokens -= 1_000;
    return { isAllowed, remaining: Math.floor(this.milliTokens / 1_000) };
  }
}

const requests = fc.array(
  fc.record({ key: fc.nat({ max: 5 }), pauseMs: fc.oneof(fc.constant(0), fc.nat({ max: 3_000 })) }),
  { maxLength: 300 },
);

describe("TokenBuckets", () => {
  test("take: agrees with a naive bucket for every key, at every rate", () => {
    fc.assert(
      fc.property(
        requests,
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 1, max: 50 }),
        (flow, perSecond, burst) => {
          const buckets = new TokenBuckets<number>({ name: "x", perSecond, burst });
          const naive = new Map<number, NaiveBucket>();
          let nowMs = 1_000_000;
          for (const { key, pauseMs } of flow) {
            nowMs += pauseMs;
            const model = naive.get(key) ?? new NaiveBucket(perSecond, burst);
            naive.set(key, model);
            const expected = model.take(nowMs);
            const state = buckets.take(key, nowMs);
            expect({ isAllowed: state.isAllowed, remaining: state.remaining }).toEqual(expected);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test("a refusal: waiting exactly retryAfterMs passes, and a millisecond less does not", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.nat({ max: 900 }), (perSecond, pause) => {
        const buckets = new TokenBuckets<string>({ name: "x", perSecond, burst: 3 });
        let nowMs = 5_000;
        for (let i = 0; i < 3; i++) expect(buckets.take("a", nowMs).isAllowed).toBe(true);
        nowMs += pause / perSecond;
        const refused = buckets.peek("a", nowMs);
        expect(refused.isAllowed).toBe(false);
        expect(buckets.peek("a", nowMs + refused.retryAfterMs - 1).isAllowed).toBe(false);
        expect(buckets.take("a", nowMs + refused.retryAfterMs).isAllowed).toBe(true);
      }),
    );
  });

  test("peek: says what take finds and changes nothing", () => {
    const buckets = new TokenBuckets<string>({ name: "x", perSecond: 1, burst: 2 });
    expect(buckets.peek("a", 0)).toEqual({
      isAllowed: true,
      remaining: 2,
      retryAfterMs: 0,
      fullInMs: 0,
    });
    expect(buckets.size).toBe(0);
    buckets.take("a", 0);
    expect(buckets.peek("a", 0)).toMatchObject({ isAllowed: true, remaining: 1, fullInMs: 1_000 });
    buckets.take("a", 0);
    expect(buckets.peek("a", 0)).toMatchObject({ isAllowed: false, retryAfterMs: 1_000 });
    expect(buckets.take("a", 0)).toMatchObject({ isAllowed: false, remaining: 0 });
  });

  test("idle keys: removed by later calls, without a timer", () => {
    const buckets = new TokenBuckets<number>({ name: "x", perSecond: 10, burst: 10 });
    for (let key = 0; key < 50_000; key++) buckets.take(key, key / 100);
    for (let i = 0; i < 50_000; i++) buckets.take(-1, 10_000 + i * 100);
    expect(buckets.size).toBeLessThanOrEqual(2);
  });

  test("more live keys than the bound: the bound holds, the newest are kept", () => {
    const buckets = new TokenBuckets<number>({ name: "x", perSecond: 0.001, burst: 1 }, 100);
    for (let key = 0; key < 1_000; key++) expect(buckets.take(key, 0).isAllowed).toBe(true);
    expect(buckets.size).toBe(100);
    expect(buckets.take(999, 0).isAllowed).toBe(false);
    expect(buckets.take(0, 0).isAllowed).toBe(true);
  });

  test("an invalid rule: throws", () => {
    expect(() => new TokenBuckets({ name: "x", perSecond: 0, burst: 1 })).toThrow(RangeError);
    expect(() => new TokenBuckets({ name: "x", perSecond: 1, burst: 0 })).toThrow(RangeError);
  });
});
