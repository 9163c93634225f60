import { Markets } from "../market.js";
import { noBody, noParams, noQuery, type Operation } from "./operation.js";

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
  params: noParams,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "Markets", schema: Markets },
  errors: [],
} satisfies Operation;
