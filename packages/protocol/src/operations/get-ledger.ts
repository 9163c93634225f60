import { Ledger, LedgerQuery } from "../ledger.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getLedger = {
  id: "getLedger",
  method: "GET",
  path: "/v1/ledger",
  tag: "account",
  summary: "Every change of the balance, newest first",
  access: "bearer",
  needsVenue: true,
  limit: "account-reads",
  costMicros: 100,
  ...NO_INPUT,
  query: LedgerQuery,
  success: { status: 200, description: "Ledger", schema: Ledger },
  errors: ["unknown_symbol"],
} satisfies Operation;
