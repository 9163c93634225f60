import { expect, test } from "vitest";
import { microsPerTickLot, stepOf } from "../numbers/units.js";
import { catalogProblem, DEFAULT_MARKETS, type MarketDefinition } from "./market-catalog.js";

const btc = DEFAULT_MARKETS[0];

function altered(change: Partial<MarketDefinition>): MarketDefinition[] {
  if (btc === undefined) throw new Error("the default catalog is empty");
  return [{ ...btc, ...change }];
}

test("default catalog: valid, and one lot at one tick is one micro-dollar", () => {
  expect(catalogProblem(DEFAULT_MARKETS)).toBeUndefined();
  expect(DEFAULT_MARKETS.map((market) => market.symbol)).toEqual(["BTCUSD", "ETHUSD", "SOLUSD"]);
  for (const { tickSize, lotSize } of DEFAULT_MARKETS) {
    expect(microsPerTickLot(stepOf(tickSize), stepOf(lotSize))).toBe(1);
  }
});

test.each<[string, MarketDefinition[], string]>([
  ["twice the same symbol", [...altered({}), ...altered({})], "markets.1.symbol: BTCUSD is"],
  ["a symbol of other parts", altered({ base: "XBT" }), "markets.0.symbol: BTCUSD must be"],
  ["a lot below a micro", altered({ lotSize: 0.000001 }), "markets.0.lotSize: 0.1 × 0.000001"],
  [
    "a start off the tick",
    altered({ index: { startPrice: 65_000.05, annualVolatility: 0 } }),
    "markets.0.index.startPrice: 65000.05 is not a multiple of 0.1",
  ],
  [
    "maintenance above the initial margin",
    altered({ tiers: [{ notionalUpTo: 1e6, maxLeverage: 50, maintenanceRate: 0.02 }] }),
    "markets.0.tiers.0.maintenanceRate: must be below",
  ],
  [
    "tiers that do not rise",
    altered({
      tiers: [
        { notionalUpTo: 1e6, maxLeverage: 50, maintenanceRate: 0.01 },
        { notionalUpTo: 1e6, maxLeverage: 25, maintenanceRate: 0.02 },
      ],
    }),
    "markets.0.tiers.1.notionalUpTo: must rise",
  ],
])("catalogProblem: %s", (_, markets, problem) => {
  expect(catalogProblem(markets)).toContain(problem);
});
