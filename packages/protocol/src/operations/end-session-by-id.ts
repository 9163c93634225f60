import { SessionIdPath } from "../accounts/account.js";
import { EndedSession } from "../accounts/sign-in.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const endSessionById = {
  id: "endSessionById",
  method: "DELETE",
  path: "/v1/auth/sessions/{id}",
  tag: "auth",
  summary: "End one session of the account; another than the caller's needs X-Service-Sig",
  access: "bearer",
  signature: {
    isRequired: false,
    over: "the text `DELETE /v1/auth/sessions/{id}`; required for another session than the caller's",
  },
  needsVenue: true,
  limit: "cancels",
  costMicros: 500,
  bodyBytes: 1_024,
  ...NO_INPUT,
  params: SessionIdPath,
  success: { status: 200, description: "When the session ended", schema: EndedSession },
  errors: ["session_not_found", "signature_required", "invalid_signature", "overloaded"],
} satisfies Operation;
