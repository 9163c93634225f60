import { Account } from "@perpgate/protocol";
import { defineVenueOperation, noBody, noParams, noQuery } from "../http/operation.js";

export const getAccount = defineVenueOperation({
  id: "getAccount",
  method: "GET",
  path: "/v1/account",
  tag: "account",
  summary: "Balance, margin, equity and the session that asks",
  access: "bearer",
  limit: "account-reads",
  costMicros: 30,
  params: noParams,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "The account", schema: Account },
  errors: [],
  handle: ({ caller }, venue) => venue.account(caller()),
});
