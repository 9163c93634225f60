import { AttestedDeposit, DepositIdPath } from "@perpgate/protocol";
import { defineVenueOperation, noBody, noQuery } from "../http/operation.js";

export const getDeposit = defineVenueOperation({
  id: "getDeposit",
  method: "GET",
  path: "/v1/bridge/deposits/{id}",
  tag: "bridge",
  summary: "One own deposit",
  access: "bearer",
  limit: "account-reads",
  costMicros: 60,
  params: DepositIdPath,
  query: noQuery,
  body: noBody,
  success: {
    status: 200,
    description: "The deposit, with the signed votes on it",
    schema: AttestedDeposit,
  },
  errors: ["deposit_not_found"],
  handle: ({ caller, params }, venue) => venue.deposit(caller(), params.id),
});
