import { Reserves } from "../bridge/reserves.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getReserves = {
  id: "getReserves",
  ...PUBLIC_READ,
  path: "/v1/bridge/reserves",
  tag: "bridge",
  summary: "What the venue owes, by its newest commitment, and what its vaults hold",
  costMicros: 400,
  success: { status: 200, description: "The reserves", schema: Reserves },
  errors: ["history_rebuilding"],
} satisfies Operation;
