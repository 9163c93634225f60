import { Tickers } from "../markets/market-data.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getTickers = {
  id: "getTickers",
  ...PUBLIC_READ,
  path: "/v1/tickers",
  tag: "markets",
  summary: "The tickers of all markets",
  costMicros: 100,
  success: { status: 200, description: "One per market, in listing order", schema: Tickers },
  errors: [],
} satisfies Operation;
