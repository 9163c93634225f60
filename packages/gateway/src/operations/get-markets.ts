import { Markets } from "@perpgate/protocol";
import { defineOperation, noBody, noParams, noQuery } from "../http/operation.js";

export const getMarkets = defineOperation({
  id: "getMarkets",
  method: "GET",
  path: "/v1/markets",
  tag: "markets",
  summary: "Listed markets, in listing order",
  access: "public",
  limit: "reads",
  costMicros: 60,
  params: noParams,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "Markets", schema: Markets },
  errors: [],
  handle: (_call, { markets }) => [...markets()],
});
