import { FundingPayments, LedgerQuery } from "../ledger.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getFundingPayments = {
  id: "getFundingPayments",
  method: "GET",
  path: "/v1/funding-payments",
  tag: "account",
  summary: "Funding paid and received, newest first",
  access: "bearer",
  needsVenue: true,
  limit: "account-reads",
  costMicros: 60,
  ...NO_INPUT,
  query: LedgerQuery,
  success: { status: 200, description: "Funding payments", schema: FundingPayments },
  errors: ["unknown_symbol"],
} satisfies Operation;
