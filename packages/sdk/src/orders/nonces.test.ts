import { describe, expect, test } from "vitest";
import { Nonces } from "./nonces.js";

describe("Nonces", () => {
  const never = () => new Promise<void>(() => undefined);

  test("rise with the clock, and by one if it stops or steps back", async () => {
    let nowMs = Date.parse("2026-06-01T00:00:00Z");
    const nonces = new Nonces(0, { nowMs: () => nowMs, random: () => 0 });
    const next = () => nonces.use(undefined, async (nonce) => nonce);
    const first = await next();
    expect(await next()).toBe(first + 1);
    nowMs -= 60_000;
    expect(await next()).toBe(first + 2);
    nowMs += 120_000;
    const later = await next();
    expect(later).toBe(first + 60_000 * 8_192);
    expect(nonces.last).toBe(later);
  });

  test("stay safe integers for decades", async () => {
    const nowMs = () => Date.parse("2058-01-01T00:00:00Z");
    const nonces = new Nonces(0, { nowMs, random: () => 0.999_999 });
    expect(await nonces.use(undefined, async (nonce) => Number.isSafeInteger(nonce))).toBe(true);
  });

  test("continue above the last one of a saved session", async () => {
    const nonces = new Nonces(2 ** 52);
    expect(await nonces.use(undefined, async (nonce) => nonce)).toBe(2 ** 52 + 1);
    expect(await nonces.use(2 ** 52 + 10, async (nonce) => nonce)).toBe(2 ** 52 + 10);
    expect(await nonces.use(undefined, async (nonce) => nonce)).toBe(2 ** 52 + 11);
  });

  test("none left: refused, not repeated", async () => {
    const nonces = new Nonces(Number.MAX_SAFE_INTEGER);
    await expect(nonces.use(undefined, never)).rejects.toThrow(RangeError);
  });

  test("an order that hangs: 511 others pass it, the next one waits for it", async () => {
    const nonces = new Nonces();
    let settle: () => void = () => undefined;
    const hanging = nonces.use(undefined, () => new Promise<void>((resolve) => (settle = resolve)));
    for (let i = 0; i < 511; i++) await nonces.use(undefined, async () => undefined);
    let isIssued = false;
    const waiting = nonces.use(undefined, async () => {
      isIssued = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isIssued).toBe(false);
    settle();
    await Promise.all([hanging, waiting]);
    expect(isIssued).toBe(true);
    void nonces.use(undefined, never);
  });
});
