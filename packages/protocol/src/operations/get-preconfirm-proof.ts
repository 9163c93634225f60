import { Type } from "typebox";
import { AckNoncePath } from "../blocks/preconfirm.js";
import { ACCOUNT_READ, type Operation } from "./operation.js";

export const getPreconfirmProof = {
  id: "getPreconfirmProof",
  ...ACCOUNT_READ,
  path: "/v1/preconfirms/{ackNonce}/proof",
  tag: "blocks",
  summary: "An own acknowledgement's proof as one text file, checked offline",
  costMicros: 400,
  params: AckNoncePath,
  success: {
    status: 200,
    description: "A C2SP tlog-proof of the block, which leads to the acknowledgement",
    schema: Type.String(),
    type: "text/plain",
  },
  errors: [
    "preconfirm_not_found",
    "not_sealed",
    "not_in_checkpoint",
    "no_transparency_log",
    "history_rebuilding",
    "history_not_kept",
  ],
} satisfies Operation;
