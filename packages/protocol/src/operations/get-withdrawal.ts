import { AttestedWithdrawal, WithdrawalIdPath } from "../bridge/withdrawal.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getWithdrawal = {
  id: "getWithdrawal",
  ...ACCOUNT_READ,
  path: "/v1/bridge/withdrawals/{id}",
  tag: "bridge",
  summary: "One own withdrawal",
  costMicros: 60,
  params: WithdrawalIdPath,
  success: {
    status: 200,
    description: "The withdrawal, with the signed votes on it",
    schema: AttestedWithdrawal,
  },
  errors: ["withdrawal_not_found", "history_rebuilding"],
} satisfies Operation;
