import { Honesty } from "../blocks/honesty.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getHonesty = {
  id: "getHonesty",
  ...PUBLIC_READ,
  path: "/v1/honesty",
  tag: "blocks",
  summary: "The log's key, and how the venue has kept its receipts",
  costMicros: 60,
  success: { status: 200, description: "The record", schema: Honesty },
  errors: ["no_transparency_log"],
} satisfies Operation;
