import { Tickers } from "../market-data.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getTickers = {
  id: "getTickers",
  method: "GET",
  path: "/v1/tickers",
  tag: "markets",
  summary: "The tickers of all markets",
  access: "public",
  needsVenue: true,
  limit: "reads",
  costMicros: 100,
  ...NO_INPUT,
  success: { status: 200, description: "One per market, in listing order", schema: Tickers },
  errors: [],
} satisfies Operation;
