import { expect, test } from "vitest";
import { MOST_ALERTS, type PriceAlert, PriceAlerts } from "./price-alerts.js";

const TICKER = { symbol: "BTCUSD", mark: 100, index: 100, last: null };
const UP = { symbol: "BTCUSD", source: "mark", price: 110, direction: "up" } as const;
const DOWN = { ...UP, price: 90, direction: "down" } as const;

function watched() {
  const fired: [number, number, boolean][] = [];
  const alerts = new PriceAlerts(({ price }: PriceAlert, at, isHere) => {
    fired.push([price, at, isHere]);
  });
  alerts.watch();
  return { alerts, fired };
}

test("price alert: fires once, at the price or beyond it, of its own source and market", () => {
  const { alerts, fired } = watched();
  for (const alert of [UP, DOWN, { ...UP, source: "last" } as const]) {
    expect(alerts.add(alert)).toBe(true);
  }
  alerts.check(TICKER);
  alerts.check({ ...TICKER, symbol: "ETHUSD", mark: 200 });
  alerts.check({ ...TICKER, index: 200, mark: 109.9 });
  expect(fired).toEqual([]);
  alerts.check({ ...TICKER, mark: 110 });
  alerts.check({ ...TICKER, mark: 120 });
  expect(fired).toEqual([[110, 110, true]]);
  alerts.check({ ...TICKER, mark: 80, last: 111 });
  expect(fired.slice(1)).toEqual([
    [90, 80, true],
    [110, 111, true],
  ]);
  expect(alerts.list.get()).toEqual([]);
});

test("price alert: one that was removed does not fire; a tab that does not watch fires none", () => {
  const { alerts, fired } = watched();
  alerts.add(UP);
  alerts.remove(alerts.list.get()[0]?.id ?? "");
  alerts.check({ ...TICKER, mark: 120 });
  const other = new PriceAlerts(() => fired.push([0, 0, false]));
  other.add(UP);
  other.check({ ...TICKER, mark: 120 });
  expect(fired).toEqual([]);
  expect(other.list.get()).toHaveLength(1);
});

test("price alert: the list is bounded", () => {
  const { alerts } = watched();
  const isAdded = Array.from({ length: MOST_ALERTS + 1 }, () => alerts.add(UP));
  expect(isAdded.filter(Boolean)).toHaveLength(MOST_ALERTS);
  expect(isAdded.at(-1)).toBe(false);
  expect(new Set(alerts.list.get().map(({ id }) => id)).size).toBe(MOST_ALERTS);
});
