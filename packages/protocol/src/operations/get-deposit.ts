import { AttestedDeposit, DepositIdPath } from "../deposit.js";
import { noBody, noQuery, type Operation } from "./operation.js";

export const getDeposit = {
  id: "getDeposit",
  method: "GET",
  path: "/v1/bridge/deposits/{id}",
  tag: "bridge",
  summary: "One own deposit",
  access: "bearer",
  needsVenue: true,
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
} satisfies Operation;
