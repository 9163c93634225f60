import { AttestedDeposit, DepositIdPath } from "../deposit.js";
import { NO_INPUT, type Operation } from "./operation.js";

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
  ...NO_INPUT,
  params: DepositIdPath,
  success: {
    status: 200,
    description: "The deposit, with the signed votes on it",
    schema: AttestedDeposit,
  },
  errors: ["deposit_not_found"],
} satisfies Operation;
