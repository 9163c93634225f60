import { EndedSessions } from "../accounts/sign-in.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const endOtherSessions = {
  id: "endOtherSessions",
  method: "DELETE",
  path: "/v1/auth/sessions",
  tag: "auth",
  summary: "End all sessions of the account but the caller's; needs X-Service-Sig",
  access: "bearer",
  signature: { isRequired: true, over: "the text `DELETE /v1/auth/sessions`" },
  needsVenue: true,
  limit: "cancels",
  costMicros: 1_000,
  bodyBytes: 1_024,
  ...NO_INPUT,
  success: { status: 200, description: "The sessions that ended", schema: EndedSessions },
  errors: ["signature_required", "invalid_signature", "overloaded"],
} satisfies Operation;
