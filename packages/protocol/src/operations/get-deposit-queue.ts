import { DepositQueue, DepositQueueBody } from "../bridge/attestor-requests.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getDepositQueue = {
  id: "getDepositQueue",
  method: "POST",
  path: "/v1/bridge/queue",
  tag: "bridge",
  summary: "What an attestor has to vote on; the body is signed by its key in X-Service-Sig",
  access: "public",
  needsVenue: true,
  limit: "attestors",
  costMicros: 150,
  bodyBytes: 4_096,
  ...NO_INPUT,
  body: DepositQueueBody,
  success: { status: 200, description: "A page of deposits", schema: DepositQueue },
  errors: [
    "attestors_not_configured",
    "attestor_unknown",
    "attestor_request_outdated",
    "invalid_signature",
  ],
} satisfies Operation;
