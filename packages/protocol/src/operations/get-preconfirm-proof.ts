import { Type } from "typebox";
import { AckNoncePath } from "../preconfirm.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getPreconfirmProof = {
  id: "getPreconfirmProof",
  method: "GET",
  path: "/v1/preconfirms/{ackNonce}/proof",
  tag: "blocks",
  summary: "An own acknowledgement's proof as one text file, checked offline",
  access: "bearer",
  needsVenue: true,
  limit: "account-reads",
  costMicros: 400,
  ...NO_INPUT,
  params: AckNoncePath,
  success: {
    status: 200,
    description: "A C2SP tlog-proof of the block, which leads to the acknowledgement",
    schema: Type.String(),
    type: "text/plain",
  },
  errors: ["preconfirm_not_found", "not_sealed", "not_in_checkpoint", "no_transparency_log"],
} satisfies Operation;
