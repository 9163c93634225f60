import { FundingPayments, LedgerQuery } from "../accounts/ledger.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getFundingPayments = {
  id: "getFundingPayments",
  ...ACCOUNT_READ,
  path: "/v1/funding-payments",
  tag: "account",
  summary: "Funding paid and received, newest first",
  costMicros: 60,
  endsAtEdge: true,
  query: LedgerQuery,
  success: { status: 200, description: "Funding payments", schema: FundingPayments },
  errors: ["unknown_symbol", "history_rebuilding"],
} satisfies Operation;
