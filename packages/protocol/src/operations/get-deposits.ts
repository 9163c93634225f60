import { Deposits, DepositsQuery } from "../deposit.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getDeposits = {
  id: "getDeposits",
  method: "GET",
  path: "/v1/bridge/deposits",
  tag: "bridge",
  summary: "Own deposits, newest first",
  access: "bearer",
  needsVenue: true,
  limit: "account-reads",
  costMicros: 100,
  ...NO_INPUT,
  query: DepositsQuery,
  success: { status: 200, description: "Deposits", schema: Deposits },
  errors: [],
} satisfies Operation;
