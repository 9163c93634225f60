import { DepositQueue, DepositQueueBody } from "@perpgate/protocol";
import { defineVenueOperation, noParams, noQuery } from "../http/operation.js";

export const getDepositQueue = defineVenueOperation({
  id: "getDepositQueue",
  method: "POST",
  path: "/v1/bridge/queue",
  tag: "bridge",
  summary: "What an attestor has to vote on; the body is signed by its key in X-Service-Sig",
  access: "public",
  limit: "attestors",
  costMicros: 150,
  bodyBytes: 4_096,
  params: noParams,
  query: noQuery,
  body: DepositQueueBody,
  success: { status: 200, description: "A page of deposits", schema: DepositQueue },
  errors: [
    "attestors_not_configured",
    "attestor_unknown",
    "attestor_request_outdated",
    "invalid_signature",
  ],
  handle: async ({ body, bodyBytes, signature, client }, venue, { addressLimits }) => {
    addressLimits.takeAttestor(client.address, client.header);
    return venue.depositQueue({ body, bytes: bodyBytes, signature });
  },
});
