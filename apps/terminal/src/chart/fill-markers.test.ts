import type { Fill } from "@perpgate/protocol";
import { expect, test } from "vitest";
import { fillMarks } from "./fill-markers.js";

test("fill marks: one a candle and side, of this market and the shown candles", () => {
  const fill = (time: number, side: "long" | "short", size: number, symbol = "BTCUSD"): Fill => ({
    id: `${time}-0`,
    orderId: "1",
    kind: "order",
    symbol,
    side,
    price: 1,
    size,
    fee: 0,
    feeCurrency: "USD",
    liquidity: "taker",
    realizedPnl: 0,
    block: 1,
    time,
    clientOrderId: null,
  });
  const fills = [
    fill(185_000, "short", 1),
    fill(130_000, "long", 2),
    fill(121_000, "long", 3),
    fill(121_000, "long", 3, "ETHUSD"),
    fill(59_000, "long", 4),
  ];
  const marksOf = (rows: readonly Fill[], hasMore: boolean) =>
    fillMarks({ rows, hasMore }, "BTCUSD", "1m", 60_000);
  const [buys, sale] = [
    { time: 120_000, side: "long", size: 5 },
    { time: 180_000, side: "short", size: 1 },
  ];
  expect(marksOf(fills, false)).toEqual([buys, sale]);
  // Older fills of the first candle are not loaded.
  expect(marksOf(fills.slice(0, 2), true)).toEqual([sale]);
});
