import { SymbolPath } from "../markets/market.js";
import { Ticker } from "../markets/market-data.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getTicker = {
  id: "getTicker",
  ...PUBLIC_READ,
  path: "/v1/markets/{symbol}/ticker",
  tag: "markets",
  summary: "Prices and the last 24 hours at a glance",
  costMicros: 40,
  params: SymbolPath,
  success: { status: 200, description: "The ticker", schema: Ticker },
  errors: ["market_not_found"],
} satisfies Operation;
