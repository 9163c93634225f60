import { Positions } from "@perpgate/protocol";
import { defineVenueOperation, noBody, noParams, noQuery } from "../http/operation.js";

export const getPositions = defineVenueOperation({
  id: "getPositions",
  method: "GET",
  path: "/v1/positions",
  tag: "account",
  summary: "Own positions",
  access: "bearer",
  limit: "account-reads",
  costMicros: 40,
  params: noParams,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "Positions", schema: Positions },
  errors: [],
  handle: ({ caller }, venue) => venue.positions(caller()),
});
