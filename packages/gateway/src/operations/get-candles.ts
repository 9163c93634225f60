import { Candles, CandlesQuery, SymbolPath } from "@perpgate/protocol";
import { defineVenueOperation, noBody } from "../http/operation.js";

export const getCandles = defineVenueOperation({
  id: "getCandles",
  method: "GET",
  path: "/v1/markets/{symbol}/candles",
  tag: "markets",
  summary: "Candles of one resolution",
  access: "public",
  limit: "reads",
  costMicros: 60,
  params: SymbolPath,
  query: CandlesQuery,
  body: noBody,
  success: { status: 200, description: "Candles", schema: Candles },
  errors: ["market_not_found"],
  handle: ({ params, query }, venue) => venue.candles(params.symbol, query),
});
