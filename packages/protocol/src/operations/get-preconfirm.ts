import { AckNoncePath, PreconfirmProof } from "../blocks/preconfirm.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getPreconfirm = {
  id: "getPreconfirm",
  ...ACCOUNT_READ,
  path: "/v1/preconfirms/{ackNonce}",
  tag: "blocks",
  summary: "An own acknowledgement with its Merkle path",
  costMicros: 120,
  params: AckNoncePath,
  success: { status: 200, description: "Acknowledgement and proof", schema: PreconfirmProof },
  errors: ["preconfirm_not_found", "not_sealed", "history_rebuilding", "history_not_kept"],
} satisfies Operation;
