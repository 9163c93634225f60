import { AckNoncePath, PreconfirmProof } from "@perpgate/protocol";
import { defineVenueOperation, noBody, noQuery } from "../http/operation.js";

export const getPreconfirm = defineVenueOperation({
  id: "getPreconfirm",
  method: "GET",
  path: "/v1/preconfirms/{ackNonce}",
  tag: "blocks",
  summary: "An own acknowledgement with its Merkle path",
  access: "bearer",
  limit: "account-reads",
  costMicros: 120,
  params: AckNoncePath,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "Acknowledgement and proof", schema: PreconfirmProof },
  errors: ["preconfirm_not_found", "not_sealed"],
  handle: ({ caller, params }, venue) => venue.preconfirm(caller(), params.ackNonce),
});
