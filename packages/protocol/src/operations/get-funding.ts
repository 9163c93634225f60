import { SymbolPath } from "../market.js";
import { FundingHistory, FundingQuery } from "../market-data.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getFunding = {
  id: "getFunding",
  method: "GET",
  path: "/v1/markets/{symbol}/funding",
  tag: "markets",
  summary: "Funding history, newest first",
  access: "public",
  needsVenue: true,
  limit: "reads",
  costMicros: 60,
  ...NO_INPUT,
  params: SymbolPath,
  query: FundingQuery,
  success: { status: 200, description: "Funding payments' rates", schema: FundingHistory },
  errors: ["market_not_found"],
} satisfies Operation;
