import { AckNoncePath, PreconfirmProof } from "../preconfirm.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getPreconfirm = {
  id: "getPreconfirm",
  method: "GET",
  path: "/v1/preconfirms/{ackNonce}",
  tag: "blocks",
  summary: "An own acknowledgement with its Merkle path",
  access: "bearer",
  needsVenue: true,
  limit: "account-reads",
  costMicros: 120,
  ...NO_INPUT,
  params: AckNoncePath,
  success: { status: 200, description: "Acknowledgement and proof", schema: PreconfirmProof },
  errors: ["preconfirm_not_found", "not_sealed"],
} satisfies Operation;
