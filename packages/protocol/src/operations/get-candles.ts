import { SymbolPath } from "../markets/market.js";
import { Candles, CandlesQuery } from "../markets/market-data.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getCandles = {
  id: "getCandles",
  ...PUBLIC_READ,
  path: "/v1/markets/{symbol}/candles",
  tag: "markets",
  summary: "Candles of trades, the mark or the index",
  costMicros: 75,
  params: SymbolPath,
  query: CandlesQuery,
  success: { status: 200, description: "Candles", schema: Candles },
  errors: ["market_not_found", "history_rebuilding"],
} satisfies Operation;
