import { BridgeInfo } from "@perpgate/protocol";
import { defineVenueOperation, noBody, noParams, noQuery } from "../http/operation.js";

export const getBridge = defineVenueOperation({
  id: "getBridge",
  method: "GET",
  path: "/v1/bridge",
  tag: "bridge",
  summary: "Where deposits go, and who attests them",
  access: "public",
  limit: "reads",
  costMicros: 20,
  params: noParams,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "The bridge", schema: BridgeInfo },
  errors: [],
  handle: (_, venue) => venue.bridge(),
});
