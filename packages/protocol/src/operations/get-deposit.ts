import { AttestedDeposit, DepositIdPath } from "../bridge/deposit.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getDeposit = {
  id: "getDeposit",
  ...ACCOUNT_READ,
  path: "/v1/bridge/deposits/{id}",
  tag: "bridge",
  summary: "One own deposit",
  costMicros: 60,
  params: DepositIdPath,
  success: {
    status: 200,
    description: "The deposit, with the signed votes on it",
    schema: AttestedDeposit,
  },
  errors: ["deposit_not_found", "history_rebuilding"],
} satisfies Operation;
