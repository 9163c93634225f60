import { Honesty } from "../honesty.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getHonesty = {
  id: "getHonesty",
  method: "GET",
  path: "/v1/honesty",
  tag: "blocks",
  summary: "The log's key, and how the venue has kept its receipts",
  access: "public",
  needsVenue: true,
  limit: "reads",
  costMicros: 60,
  ...NO_INPUT,
  success: { status: 200, description: "The record", schema: Honesty },
  errors: ["no_transparency_log"],
} satisfies Operation;
