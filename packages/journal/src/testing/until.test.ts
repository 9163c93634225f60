import { describe, expect, test } from "vitest";
import { POLL, until } from "./until.js";

describe("until", () => {
  test("a condition that holds after some turns: its answer", async () => {
    const answers = [undefined, null, false, 0];
    expect(await until(() => answers.shift(), { everyMs: 0 })).toBe(0);
    expect(answers).toEqual([]);
  });

  test("a condition that does not hold in time: too late, with the condition", async () => {
    const orders = new Set(["first"]);
    await expect(until(async () => orders.size === 2, { withinMs: 0 })).rejects.toThrow(
      /^too late: not within 0 ms: .*orders\.size === 2/,
    );
  });

  test("a condition that throws: its error", async () => {
    const fail = () => Promise.reject(new Error("closed"));
    await expect(until(fail)).rejects.toThrow("closed");
  });
});

test("expect.poll: what it compares with does not come in time: too late", async () => {
  const late = async () => expect.poll(() => 1, { ...POLL, timeout: 10 }).toBe(2);
  await expect(late()).rejects.toThrow(/^too late: expected 1 to be 2/);
});
