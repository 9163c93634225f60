import { Fills, FillsQuery } from "../orders/fill.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getFills = {
  id: "getFills",
  ...ACCOUNT_READ,
  path: "/v1/fills",
  tag: "account",
  summary: "Own fills, newest first",
  costMicros: 60,
  endsAtEdge: true,
  query: FillsQuery,
  success: { status: 200, description: "Fills", schema: Fills },
  errors: ["unknown_symbol", "history_rebuilding"],
} satisfies Operation;
