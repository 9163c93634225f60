import { BatchAnswer, BatchBody } from "../orders/extended-order.js";
import { type Operation, SIGNED_ORDER } from "./operation.js";

export const placeBatch = {
  id: "placeBatch",
  ...SIGNED_ORDER,
  path: "/v1/orders/batch",
  tag: "orders",
  summary: "Place, amend and cancel up to 50 orders with one signature; each succeeds on its own",
  costMicros: 520,
  bodyBytes: "batch",
  body: BatchBody,
  success: { status: 200, description: "Executed and durable", schema: BatchAnswer },
  errors: [
    "signature_required",
    "invalid_signature",
    "session_key_rotated",
    "nonce_too_old",
    "nonce_conflict",
    "too_late",
    "history_rebuilding",
    "history_not_kept",
  ],
} satisfies Operation;
