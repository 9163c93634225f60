import { Deposits } from "../deposit.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getDeposits = {
  id: "getDeposits",
  method: "GET",
  path: "/v1/bridge/deposits",
  tag: "bridge",
  summary: "Own deposits, the newest 1,000",
  access: "bearer",
  needsVenue: true,
  limit: "account-reads",
  costMicros: 100,
  ...NO_INPUT,
  success: { status: 200, description: "Deposits", schema: Deposits },
  errors: [],
} satisfies Operation;
