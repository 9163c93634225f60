import { setImmediate } from "node:timers/promises";
import type { EdgeLink } from "@perpgate/link";
import { expect, test } from "vitest";
import { runVenue } from "../venue/testing/running-venue.js";
import { BookReads } from "./book-reads.js";

test("reads of one turn: the core is asked once for each depth; the next turn asks again", async () => {
  const at = await runVenue();
  const { link } = at.edge;
  const asked: string[] = [];
  const request: EdgeLink["request"] = (name, body, onNotes) => {
    asked.push(name);
    return link.request(name, body, onNotes);
  };
  const reads = new BookReads({ request });
  const symbol = "BTCUSD";
  const [first, second, deeper] = await Promise.all(
    [20, 20, 50].map((depth) => reads.text({ symbol }, { depth })),
  );
  expect(asked).toEqual(["getBook", "getBook"]);
  expect(second).toBe(first);
  expect(JSON.parse(deeper ?? "")).toMatchObject({ symbol, bids: [], asks: [] });
  await setImmediate();
  await reads.text({ symbol }, { depth: 20 });
  expect(asked).toHaveLength(3);
});

test("a market that is not there: every reader of the turn is refused, none later", async () => {
  const { edge } = await runVenue();
  const read = (symbol: string) => edge.books.text({ symbol }, { depth: 20 });
  const both = await Promise.allSettled([read("DOGEUSD"), read("DOGEUSD")]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await setImmediate();
  await expect(read("BTCUSD")).resolves.toContain('"BTCUSD"');
});
