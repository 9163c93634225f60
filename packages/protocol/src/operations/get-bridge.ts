import { BridgeInfo } from "../bridge.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getBridge = {
  id: "getBridge",
  method: "GET",
  path: "/v1/bridge",
  tag: "bridge",
  summary: "Where deposits go, and who attests them",
  access: "public",
  needsVenue: true,
  limit: "reads",
  costMicros: 20,
  ...NO_INPUT,
  success: { status: 200, description: "The bridge", schema: BridgeInfo },
  errors: [],
} satisfies Operation;
