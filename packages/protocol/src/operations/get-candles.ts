import { SymbolPath } from "../market.js";
import { Candles, CandlesQuery } from "../market-data.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getCandles = {
  id: "getCandles",
  method: "GET",
  path: "/v1/markets/{symbol}/candles",
  tag: "markets",
  summary: "Candles of one resolution",
  access: "public",
  needsVenue: true,
  limit: "reads",
  costMicros: 60,
  ...NO_INPUT,
  params: SymbolPath,
  query: CandlesQuery,
  success: { status: 200, description: "Candles", schema: Candles },
  errors: ["market_not_found"],
} satisfies Operation;
