import { Liability } from "../bridge/reserves.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getLiability = {
  id: "getLiability",
  ...ACCOUNT_READ,
  path: "/v1/account/liability",
  tag: "account",
  summary:
    "What the newest commitment says that the venue owes the account, and the path to its root",
  costMicros: 400,
  success: { status: 200, description: "The account's leaf", schema: Liability },
  errors: ["liability_not_found"],
} satisfies Operation;
