import { Account } from "../accounts/account.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getAccount = {
  id: "getAccount",
  ...ACCOUNT_READ,
  path: "/v1/account",
  tag: "account",
  summary: "Balance, margin, equity and the session that asks",
  costMicros: 120,
  success: { status: 200, description: "The account", schema: Account },
  errors: [],
} satisfies Operation;
