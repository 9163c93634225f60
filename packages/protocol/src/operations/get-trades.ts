import { SymbolPath } from "../market.js";
import { Trades, TradesQuery } from "../market-data.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getTrades = {
  id: "getTrades",
  method: "GET",
  path: "/v1/markets/{symbol}/trades",
  tag: "markets",
  summary: "Latest trades, newest first",
  access: "public",
  needsVenue: true,
  limit: "reads",
  costMicros: 60,
  ...NO_INPUT,
  params: SymbolPath,
  query: TradesQuery,
  success: { status: 200, description: "Trades", schema: Trades },
  errors: ["market_not_found"],
} satisfies Operation;
