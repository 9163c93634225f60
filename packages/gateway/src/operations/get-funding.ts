import { FundingHistory, FundingQuery, SymbolPath } from "@perpgate/protocol";
import { defineVenueOperation, noBody } from "../http/operation.js";

export const getFunding = defineVenueOperation({
  id: "getFunding",
  method: "GET",
  path: "/v1/markets/{symbol}/funding",
  tag: "markets",
  summary: "Funding history, newest first",
  access: "public",
  limit: "reads",
  costMicros: 60,
  params: SymbolPath,
  query: FundingQuery,
  body: noBody,
  success: { status: 200, description: "Funding payments' rates", schema: FundingHistory },
  errors: ["market_not_found"],
  handle: ({ params, query }, venue) => venue.funding(params.symbol, query.limit),
});
