import type { IndexObservation } from "@perpgate/oracle";
import { INDEX_STALE_MS } from "@perpgate/protocol/core";
import { expect, test } from "vitest";
import { IndexFeed } from "./index-feed.js";

/** A feed whose source says what the test says. */
function scriptedFeed() {
  const script = {
    nowMs: 1_000,
    observations: [] as IndexObservation[],
    broken: false,
    shown: Promise.resolve(),
  };
  const published: IndexObservation[] = [];
  const failures: unknown[] = [];
  const feed = new IndexFeed({
    source: {
      name: "scripted",
      observe: () => {
        if (script.broken) throw new Error("feed down");
        return script.observations;
      },
    },
    symbols: () => ["BTCUSD", "ETHUSD"],
    clock: () => script.nowMs,
    publish: async (observation) => {
      published.push(observation);
      await script.shown;
    },
    onFailure: (error) => failures.push(error),
  });
  return { script, published, failures, feed };
}

test("readiness: waits for each market, then follows the age of its price", async () => {
  const { script, feed } = scriptedFeed();
  expect(feed.notReadyReason()).toBe("no index price for BTCUSD yet");
  script.observations = [{ symbol: "BTCUSD", priceTicks: 1, observedAtMs: 1_000 }];
  await feed.refresh();
  expect(feed.notReadyReason()).toBe("no index price for ETHUSD yet");
  script.observations = [{ symbol: "ETHUSD", priceTicks: 2, observedAtMs: 1_000 }];
  await feed.refresh();
  script.nowMs += INDEX_STALE_MS;
  expect(feed.notReadyReason()).toBeUndefined();
  script.nowMs++;
  expect(feed.notReadyReason()).toContain("the index of BTCUSD is older");
});

test("a price that is not newer: not passed on again, so that the venue sees it age", async () => {
  const { script, published, feed } = scriptedFeed();
  script.observations = [{ symbol: "BTCUSD", priceTicks: 1, observedAtMs: 1_000 }];
  await feed.refresh();
  await feed.refresh();
  expect(published).toHaveLength(1);
  script.observations = [{ symbol: "BTCUSD", priceTicks: 1, observedAtMs: 1_001 }];
  await feed.refresh();
  expect(published).toHaveLength(2);
});

test("a source that throws: reported, and nothing is passed on", async () => {
  const { script, published, failures, feed } = scriptedFeed();
  script.broken = true;
  await feed.refresh();
  expect(failures).toHaveLength(1);
  expect(published).toEqual([]);
});

test("start: resolves once the venue shows the first prices, not before", async () => {
  const { script, feed } = scriptedFeed();
  let show: () => void = () => undefined;
  script.shown = new Promise((resolve) => {
    show = resolve;
  });
  script.observations = [{ symbol: "BTCUSD", priceTicks: 1, observedAtMs: 1_000 }];
  let isStarted = false;
  const started = feed.start(1_000_000).then(() => {
    isStarted = true;
  });
  await new Promise((turn) => setImmediate(turn));
  expect(isStarted).toBe(false);
  show();
  await started;
  feed.stop();
});
