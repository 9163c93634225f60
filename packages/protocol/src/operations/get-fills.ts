import { Fills, FillsQuery } from "../fill.js";
import { noBody, noParams, type Operation } from "./operation.js";

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
  params: noParams,
  query: FillsQuery,
  body: noBody,
  success: { status: 200, description: "Fills", schema: Fills },
  errors: [],
} satisfies Operation;
