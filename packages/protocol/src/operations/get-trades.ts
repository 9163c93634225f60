import { SymbolPath } from "../markets/market.js";
import { Trades, TradesQuery } from "../markets/market-data.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getTrades = {
  id: "getTrades",
  ...PUBLIC_READ,
  path: "/v1/markets/{symbol}/trades",
  tag: "markets",
  summary: "Latest trades, newest first",
  costMicros: 60,
  endsAtEdge: true,
  params: SymbolPath,
  query: TradesQuery,
  success: { status: 200, description: "Trades", schema: Trades },
  errors: ["market_not_found", "history_rebuilding"],
} satisfies Operation;
