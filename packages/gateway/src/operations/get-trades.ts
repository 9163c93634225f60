import { SymbolPath, Trades, TradesQuery } from "@perpgate/protocol";
import { defineVenueOperation, noBody } from "../http/operation.js";

export const getTrades = defineVenueOperation({
  id: "getTrades",
  method: "GET",
  path: "/v1/markets/{symbol}/trades",
  tag: "markets",
  summary: "Latest trades, newest first",
  access: "public",
  limit: "reads",
  costMicros: 60,
  params: SymbolPath,
  query: TradesQuery,
  body: noBody,
  success: { status: 200, description: "Trades", schema: Trades },
  errors: ["market_not_found"],
  handle: ({ params, query }, venue) => venue.trades(params.symbol, query.limit),
});
