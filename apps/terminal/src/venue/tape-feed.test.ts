import type { Trade } from "@perpgate/protocol";
import { expect, test } from "vitest";
import { joinTrades } from "./tape-feed.js";

test("joinTrades: history and stream, newest first, each trade once", () => {
  const trade = (id: string): Trade => ({ id, price: 1, size: 1, side: "long", time: 1 });
  const ids = (trades: readonly Trade[]) => trades.map(({ id }) => id);
  const streamed = joinTrades([], [trade("9-0"), trade("10-0")]);
  expect(ids(streamed)).toEqual(["10-0", "9-0"]);
  const joined = joinTrades(streamed, [trade("10-0"), trade("8-1"), trade("8-0")]);
  expect(ids(joined)).toEqual(["10-0", "9-0", "8-1", "8-0"]);
  expect(ids(joinTrades(joined, [trade("11-0"), trade("11-1")])).slice(0, 3)).toEqual([
    "11-1",
    "11-0",
    "10-0",
  ]);
  const many = Array.from({ length: 300 }, (_, at) => trade(`${at + 20}-0`));
  expect(joinTrades(joined, many)).toHaveLength(100);
});
