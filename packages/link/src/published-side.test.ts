import { BookChecksum, encodeSide } from "@perpgate/protocol/core";
import { expect, test } from "vitest";
import { PUBLISHED_LEVELS, PublishedSide } from "./published-side.js";

/** A side with one lot at every tick from `best` outward. */
function asksFrom(best: number, count: number) {
  return { count, ticksAt: (i: number) => best + i, lotsAt: () => 1 };
}

test("more levels than are published: the best of them, and those that follow when the best are gone", () => {
  const checksum = new BookChecksum();
  const side = new PublishedSide("ask", checksum);
  const crowd = 2 ** 20 + 1;
  expect(side.update(asksFrom(100, crowd))).toHaveLength(PUBLISHED_LEVELS);
  expect(() => encodeSide(side.levels(), "ask")).not.toThrow();
  expect(side.update(asksFrom(102, crowd - 2))).toEqual([
    [100, 0],
    [101, 0],
    [100 + PUBLISHED_LEVELS, 1],
    [101 + PUBLISHED_LEVELS, 1],
  ]);
  const same = new BookChecksum();
  new PublishedSide("ask", same).update(asksFrom(102, PUBLISHED_LEVELS));
  expect(checksum.value).toBe(same.value);
});
