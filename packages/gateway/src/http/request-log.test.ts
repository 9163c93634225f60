import { afterEach, expect, test, vi } from "vitest";
import { SampledLog } from "./request-log.js";

afterEach(() => {
  vi.useRealTimers();
});

test("a flood of lines: ten a second are written out, and one says how many were not", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  const lines: [object, string][] = [];
  const log = new SampledLog({ info: (...line) => lines.push(line) }, "closed sockets");
  for (let i = 0; i < 1_000; i++) log.info({ i }, "closed");
  expect(lines).toHaveLength(10);
  vi.advanceTimersByTime(1_000);
  expect(lines.slice(10)).toEqual([[{ suppressed: 990 }, "more closed sockets than are logged"]]);
  log.info({ i: 1_000 }, "closed");
  expect(lines.at(-1)).toEqual([{ i: 1_000 }, "closed"]);
  vi.advanceTimersByTime(10_000);
  expect(lines).toHaveLength(12);
});
