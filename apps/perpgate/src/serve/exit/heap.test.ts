/** The heap that a venue needs, and when a heap is full. A real process: process-exit.test.ts. */

import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getHeapStatistics } from "node:v8";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../testing/perpgate-process.js";
import { heapLimitBytes, heapNeedOf, heapProblem } from "./heap-limit.js";
import { HeapJudge } from "./heap-watch.js";

const MIB = 2 ** 20;
const LIMIT = 1_000 * MIB;

describe("heap limit", () => {
  test("by the last flag, in every spelling of Node; without one, below V8's limit", () => {
    expect(heapLimitBytes("--max-old-space-size=512")).toBe(512 * MIB);
    expect(heapLimitBytes("--max_old_space_size=300 --max-old-space-size=400")).toBe(400 * MIB);
    expect(heapLimitBytes("--max-old-space-size 256")).toBe(256 * MIB);
    expect(heapLimitBytes("")).toBeLessThan(getHeapStatistics().heap_size_limit);
  });

  test("needed: in proportion to the largest snapshot", () => {
    const data = temporaryFolder();
    expect(heapNeedOf(join(data, "none"), LIMIT)).toEqual({
      limitMiB: 1_000,
      leastMiB: 96,
      usualMiB: 512,
    });
    mkdirSync(join(data, "journal"));
    for (const [name, mib] of [["1", 3] as const, ["2", 1_200] as const]) {
      const file = join(data, "journal", `${name}.snapshot`);
      writeFileSync(file, "");
      truncateSync(file, mib * MIB);
    }
    expect(heapProblem(heapNeedOf(data, LIMIT))).toBe(
      "the heap of this process is limited to 1000 MiB, and the state of this data folder needs " +
        "1296 MiB or more: start node with --max-old-space-size=2912",
    );
    expect(heapProblem(heapNeedOf(data, 2 * LIMIT))).toBeUndefined();
  });
});

describe("heap judge", () => {
  const collected = (part: number, ms = 1) => [{ aliveBytes: part * LIMIT, ms }];
  const verdicts = (looks: readonly (readonly [part: number, ms: number])[]) => {
    const judge = new HeapJudge(LIMIT);
    return looks.map(([part, ms]) => judge.look(collected(part, ms), 100));
  };

  test("garbage up to the limit: fine while collections free it", () => {
    expect(verdicts([[0.3, 90], ...Array(60).fill([0.4, 90])])).not.toContain("full");
    expect(new HeapJudge(LIMIT).look([], 100)).toBe("fine");
  });

  test("full after two collections in a row; not after one", () => {
    expect(verdicts([[0.91, 1] as const, [0.5, 1] as const, [0.91, 1] as const])).toEqual([
      "high",
      "fine",
      "high",
    ]);
    expect(verdicts([[0.91, 1] as const, [0.92, 1] as const])).toEqual(["high", "full"]);
  });

  test("high, and a third of five seconds in collections: full; a shorter time: high", () => {
    const thrashing = verdicts(Array(50).fill([0.85, 40]));
    expect(thrashing.indexOf("full")).toBeGreaterThan(30);
    expect(thrashing.at(-1)).toBe("full");
    expect(verdicts(Array(100).fill([0.85, 20]))).not.toContain("full");
  });
});
