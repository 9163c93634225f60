import { RotateBody, RotatedSession } from "../accounts/sign-in.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const rotateSession = {
  id: "rotateSession",
  method: "POST",
  path: "/v1/auth/rotate",
  tag: "auth",
  summary: "Tie the token to a new session key",
  access: "bearer",
  signature: {
    isRequired: false,
    over: "the exact bytes of the body, by the old key; required if the sign-in message bound it",
  },
  needsVenue: true,
  limit: "cancels",
  costMicros: 500,
  bodyBytes: "signed",
  ...NO_INPUT,
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
} satisfies Operation;
