import { SymbolPath, Ticker } from "@perpgate/protocol";
import { defineVenueOperation, noBody, noQuery } from "../http/operation.js";

export const getTicker = defineVenueOperation({
  id: "getTicker",
  method: "GET",
  path: "/v1/markets/{symbol}/ticker",
  tag: "markets",
  summary: "Prices and the last 24 hours at a glance",
  access: "public",
  limit: "reads",
  costMicros: 40,
  params: SymbolPath,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "The ticker", schema: Ticker },
  errors: ["market_not_found"],
  handle: ({ params }, venue) => venue.ticker(params.symbol),
});
