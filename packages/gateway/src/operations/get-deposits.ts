import { Deposits } from "@perpgate/protocol";
import { defineVenueOperation, noBody, noParams, noQuery } from "../http/operation.js";

export const getDeposits = defineVenueOperation({
  id: "getDeposits",
  method: "GET",
  path: "/v1/bridge/deposits",
  tag: "bridge",
  summary: "Own deposits, the newest 1,000",
  access: "bearer",
  limit: "account-reads",
  costMicros: 100,
  params: noParams,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "Deposits", schema: Deposits },
  errors: [],
  handle: ({ caller }, venue) => venue.deposits(caller()),
});
