import { Fills, FillsQuery } from "../fill.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getFills = {
  id: "getFills",
  method: "GET",
  path: "/v1/fills",
  tag: "account",
  summary: "Own fills, newest first",
  access: "bearer",
  needsVenue: true,
  limit: "account-reads",
  costMicros: 60,
  ...NO_INPUT,
  query: FillsQuery,
  success: { status: 200, description: "Fills", schema: Fills },
  errors: ["unknown_symbol"],
} satisfies Operation;
