import { SymbolPath } from "../markets/market.js";
import { FundingHistory, FundingQuery } from "../markets/market-data.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getFunding = {
  id: "getFunding",
  ...PUBLIC_READ,
  path: "/v1/markets/{symbol}/funding",
  tag: "markets",
  summary: "Funding history, newest first",
  costMicros: 60,
  params: SymbolPath,
  query: FundingQuery,
  success: { status: 200, description: "Funding payments' rates", schema: FundingHistory },
  errors: ["market_not_found", "history_rebuilding"],
} satisfies Operation;
