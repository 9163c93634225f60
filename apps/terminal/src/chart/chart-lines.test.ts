import { expect, test } from "vitest";
import { LISTED } from "../testing/listed-market.js";
import { RESTING } from "../testing/resting-order.js";
import { viewOf } from "../venue/market-view.js";
import type { PriceAlert } from "../venue/price-alerts.js";
import { chartLinesOf } from "./chart-lines.js";

test("lines of the chart: the market's own orders and alerts; an order alone can be dragged", () => {
  const alert: PriceAlert = {
    id: "1",
    symbol: "BTCUSD",
    source: "mark",
    price: 66_000,
    direction: "up",
  };
  const alerts = [alert, { ...alert, symbol: "ETHUSD" }];
  const lines = chartLinesOf(viewOf(LISTED), undefined, new Map([["7", RESTING]]), alerts);
  expect(lines).toEqual([
    { price: 66_000, title: "Alert: mark", tone: "accent" },
    { price: 60_000, title: "Buy", tone: "long", orderId: "7" },
  ]);
});
