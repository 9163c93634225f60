import { expect, test } from "vitest";
import { TokenBucket } from "./token-bucket.js";

const RATE = { perSecond: 10, burst: 3 };

test("take: a burst passes, then one per interval", () => {
  const bucket = new TokenBucket(RATE);
  expect([0, 0, 0, 0].map((nowMs) => bucket.take(nowMs))).toEqual([true, true, true, false]);
  expect(bucket.take(99)).toBe(false);
  expect(bucket.take(100)).toBe(true);
  expect(bucket.take(100)).toBe(false);
});

test("takeOrWait: waiting as long as it returns gives a token", () => {
  const bucket = new TokenBucket(RATE, 0.5);
  const waitMs = bucket.takeOrWait(1_000);
  expect(waitMs).toBe(50);
  expect(bucket.takeOrWait(1_000 + waitMs)).toBe(0);
});

test("available: never above the burst, never negative", () => {
  const bucket = new TokenBucket(RATE);
  bucket.available(0);
  expect(bucket.available(60_000)).toBe(3);
  bucket.spend(5);
  expect(bucket.available(60_000)).toBe(0);
  expect(bucket.at(60_000)).toBe(-2);
});

test("empty: removes tokens and keeps a debt", () => {
  const bucket = new TokenBucket(RATE);
  bucket.empty();
  expect(bucket.at(0)).toBe(0);
  bucket.spend(1);
  bucket.empty();
  expect(bucket.at(0)).toBe(-1);
});

test("a clock that steps back: nothing is added", () => {
  const bucket = new TokenBucket(RATE, 0);
  bucket.at(1_000);
  expect(bucket.at(500)).toBe(0);
});
