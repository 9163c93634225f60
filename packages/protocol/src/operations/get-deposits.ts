import { Deposits, DepositsQuery } from "../bridge/deposit.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getDeposits = {
  id: "getDeposits",
  ...ACCOUNT_READ,
  path: "/v1/bridge/deposits",
  tag: "bridge",
  summary: "Own deposits, newest first",
  costMicros: 100,
  query: DepositsQuery,
  success: { status: 200, description: "Deposits", schema: Deposits },
  errors: ["too_many_rows", "history_rebuilding"],
} satisfies Operation;
