import { Fills, FillsQuery } from "@perpgate/protocol";
import { defineVenueOperation, noBody, noParams } from "../http/operation.js";

export const getFills = defineVenueOperation({
  id: "getFills",
  method: "GET",
  path: "/v1/fills",
  tag: "account",
  summary: "Own fills, newest first",
  access: "bearer",
  limit: "account-reads",
  costMicros: 60,
  params: noParams,
  query: FillsQuery,
  body: noBody,
  success: { status: 200, description: "Fills", schema: Fills },
  errors: [],
  handle: ({ caller, query }, venue) => venue.fills(caller(), query),
});
