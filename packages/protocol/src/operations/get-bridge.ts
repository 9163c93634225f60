import { BridgeInfo } from "../bridge.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getBridge = {
  id: "getBridge",
  ...PUBLIC_READ,
  path: "/v1/bridge",
  tag: "bridge",
  summary: "Where deposits go, and who attests them",
  costMicros: 20,
  success: { status: 200, description: "The bridge", schema: BridgeInfo },
  errors: [],
} satisfies Operation;
