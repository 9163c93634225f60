import { Positions } from "../accounts/position.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getPositions = {
  id: "getPositions",
  ...ACCOUNT_READ,
  path: "/v1/positions",
  tag: "account",
  summary: "Own positions",
  costMicros: 40,
  success: { status: 200, description: "Positions", schema: Positions },
  errors: [],
} satisfies Operation;
