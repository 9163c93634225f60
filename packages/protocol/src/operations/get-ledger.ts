import { Ledger, LedgerQuery } from "../accounts/ledger.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getLedger = {
  id: "getLedger",
  ...ACCOUNT_READ,
  path: "/v1/ledger",
  tag: "account",
  summary: "Every change of the balance, newest first",
  costMicros: 100,
  endsAtEdge: true,
  query: LedgerQuery,
  success: { status: 200, description: "Ledger", schema: Ledger },
  errors: ["unknown_symbol", "history_rebuilding"],
} satisfies Operation;
