import { Deposit, DepositBody } from "../bridge/deposit.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const registerDeposit = {
  id: "registerDeposit",
  method: "POST",
  path: "/v1/bridge/deposit",
  tag: "bridge",
  summary: "Register a deposit by its transaction hash",
  access: "bearer",
  needsVenue: true,
  limit: "deposits",
  costMicros: 100,
  bodyBytes: 1_024,
  ...NO_INPUT,
  body: DepositBody,
  success: {
    status: 202,
    description: "Queued; registering again answers the same deposit",
    schema: Deposit,
  },
  errors: ["invalid_tx_hash", "token_not_on_chain", "too_many_unseen_deposits"],
} satisfies Operation;
