import { BatchAnswer, BatchBody } from "../extended-order.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const placeBatch = {
  id: "placeBatch",
  method: "POST",
  path: "/v1/orders/batch",
  tag: "orders",
  summary: "Place, amend and cancel up to 50 orders with one signature; each succeeds on its own",
  access: "signed",
  needsVenue: true,
  limit: "orders",
  costMicros: 170,
  bodyBytes: "batch",
  ...NO_INPUT,
  body: BatchBody,
  success: { status: 200, description: "Executed and durable", schema: BatchAnswer },
  errors: [
    "signature_required",
    "invalid_signature",
    "session_key_rotated",
    "nonce_too_old",
    "nonce_conflict",
    "too_late",
  ],
} satisfies Operation;
