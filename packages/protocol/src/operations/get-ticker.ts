import { SymbolPath } from "../market.js";
import { Ticker } from "../market-data.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getTicker = {
  id: "getTicker",
  method: "GET",
  path: "/v1/markets/{symbol}/ticker",
  tag: "markets",
  summary: "Prices and the last 24 hours at a glance",
  access: "public",
  needsVenue: true,
  limit: "reads",
  costMicros: 40,
  ...NO_INPUT,
  params: SymbolPath,
  success: { status: 200, description: "The ticker", schema: Ticker },
  errors: ["market_not_found"],
} satisfies Operation;
