import { Positions } from "../position.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getPositions = {
  id: "getPositions",
  method: "GET",
  path: "/v1/positions",
  tag: "account",
  summary: "Own positions",
  access: "bearer",
  needsVenue: true,
  limit: "account-reads",
  costMicros: 40,
  ...NO_INPUT,
  success: { status: 200, description: "Positions", schema: Positions },
  errors: [],
} satisfies Operation;
