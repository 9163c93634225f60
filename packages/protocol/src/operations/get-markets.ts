import { Markets } from "../market.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getMarkets = {
  id: "getMarkets",
  method: "GET",
  path: "/v1/markets",
  tag: "markets",
  summary: "Listed markets, in listing order",
  access: "public",
  needsVenue: false,
  limit: "reads",
  costMicros: 60,
  ...NO_INPUT,
  success: { status: 200, description: "Markets", schema: Markets },
  errors: [],
} satisfies Operation;
