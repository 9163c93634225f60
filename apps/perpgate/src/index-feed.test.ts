import type { IndexObservation } from "@perpgate/oracle";
import { expect, test } from "vitest";
import { IndexFeed, MAX_INDEX_AGE_MS } from "./index-feed.js";

test("readiness: waits for each market, then follows the age of its price", () => {
  let now = 1_000;
  let observations: IndexObservation[] = [];
  const source = { name: "scripted", observe: () => observations };
  const feed = new IndexFeed(
    source,
    ["BTCUSD", "ETHUSD"],
    () => now,
    () => {},
  );
  expect(feed.notReadyReason(now)).toBe("no index price for BTCUSD yet");
  observations = [{ symbol: "BTCUSD", priceTicks: 1, observedAtMs: now }];
  feed.refresh();
  expect(feed.notReadyReason(now)).toBe("no index price for ETHUSD yet");
  observations = [{ symbol: "ETHUSD", priceTicks: 2, observedAtMs: now }];
  feed.refresh();
  expect(feed.notReadyReason(now)).toBeUndefined();
  now += MAX_INDEX_AGE_MS;
  expect(feed.notReadyReason(now)).toBeUndefined();
  expect(feed.notReadyReason(now + 1)).toContain("the index of BTCUSD is older");
});

test("a source that throws: reported, and the last price stays", () => {
  const failures: unknown[] = [];
  let broken = false;
  const source = {
    name: "scripted",
    observe: (nowMs: number) => {
      if (broken) throw new Error("feed down");
      return [{ symbol: "BTCUSD", priceTicks: 7, observedAtMs: nowMs }];
    },
  };
  const feed = new IndexFeed(
    source,
    ["BTCUSD"],
    () => 0,
    (error) => failures.push(error),
  );
  feed.refresh();
  broken = true;
  feed.refresh();
  expect(failures).toHaveLength(1);
  expect(feed.priceTicks("BTCUSD")).toBe(7);
});
