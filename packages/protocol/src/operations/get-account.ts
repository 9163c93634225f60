import { Account } from "../account.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getAccount = {
  id: "getAccount",
  method: "GET",
  path: "/v1/account",
  tag: "account",
  summary: "Balance, margin, equity and the session that asks",
  access: "bearer",
  needsVenue: true,
  limit: "account-reads",
  costMicros: 120,
  ...NO_INPUT,
  success: { status: 200, description: "The account", schema: Account },
  errors: [],
} satisfies Operation;
