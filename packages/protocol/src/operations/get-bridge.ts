import { BridgeInfo } from "../bridge/bridge.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getBridge = {
  id: "getBridge",
  ...PUBLIC_READ,
  // Each poll of an attestor begins with it; the signature is not checked, because the answer is public.
  signedLimit: "attestors",
  path: "/v1/bridge",
  tag: "bridge",
  summary: "Where deposits go, and who attests them",
  costMicros: 20,
  success: { status: 200, description: "The bridge", schema: BridgeInfo },
  errors: [],
} satisfies Operation;
