import { Withdrawals, WithdrawalsQuery } from "../bridge/withdrawal.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getWithdrawals = {
  id: "getWithdrawals",
  ...ACCOUNT_READ,
  path: "/v1/bridge/withdrawals",
  tag: "bridge",
  summary: "Own withdrawals, newest first",
  costMicros: 100,
  query: WithdrawalsQuery,
  success: { status: 200, description: "Withdrawals", schema: Withdrawals },
  errors: ["history_rebuilding"],
} satisfies Operation;
