import { Markets } from "../markets/market.js";
import { GATEWAY_READ, type Operation } from "./operation.js";

export const getMarkets = {
  id: "getMarkets",
  ...GATEWAY_READ,
  path: "/v1/markets",
  tag: "markets",
  summary: "Listed markets, in listing order",
  costMicros: 60,
  success: { status: 200, description: "Markets", schema: Markets },
  errors: [],
} satisfies Operation;
