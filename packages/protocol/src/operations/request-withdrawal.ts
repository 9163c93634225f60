import { Withdrawal, WithdrawalBody } from "../bridge/withdrawal.js";
import { type Operation, SIGNED_ORDER } from "./operation.js";

export const requestWithdrawal = {
  id: "requestWithdrawal",
  ...SIGNED_ORDER,
  path: "/v1/bridge/withdrawals",
  tag: "bridge",
  summary: "Have money paid to the account's own address on a chain",
  costMicros: 500,
  body: WithdrawalBody,
  success: {
    status: 202,
    description: "Durable; amount and fee have left the wallet",
    schema: Withdrawal,
  },
  errors: [
    "signature_required",
    "invalid_signature",
    "session_key_rotated",
    "withdrawals_not_supported",
    "contract_wallet_elsewhere",
    "withdrawal_too_small",
    "insufficient_balance",
    "withdrawals_paused",
    "reorged_credit",
    "chain_balance_too_small",
    "unpaid_withdrawals",
    "withdrawal_limit",
    "nonce_too_old",
    "nonce_conflict",
    "history_rebuilding",
    "history_not_kept",
  ],
} satisfies Operation;
