import { RotateBody, RotatedSession } from "@perpgate/protocol";
import { defineVenueOperation, noParams, noQuery } from "../http/operation.js";

export const rotateSession = defineVenueOperation({
  id: "rotateSession",
  method: "POST",
  path: "/v1/auth/rotate",
  tag: "auth",
  summary: "Tie the token to a new session key",
  access: "bearer",
  limit: "cancels",
  costMicros: 200,
  params: noParams,
  query: noQuery,
  body: RotateBody,
  success: {
    status: 200,
    description: "The same token, now tied to the new key",
    schema: RotatedSession,
  },
  errors: [
    "invalid_session_key",
    "signature_required",
    "invalid_signature",
    "session_key_rotated",
    "overloaded",
  ],
  handle: ({ caller, body, bodyBytes, signature }, venue) =>
    venue.rotateSession(caller(), { body, bytes: bodyBytes, signature }),
});
