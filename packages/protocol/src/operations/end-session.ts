import { EndedSession } from "../accounts/sign-in.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const endSession = {
  id: "endSession",
  method: "DELETE",
  path: "/v1/auth/session",
  tag: "auth",
  summary: "Sign out: the token stops working",
  access: "bearer",
  needsVenue: true,
  costMicros: 300,
  bodyBytes: 1_024,
  ...NO_INPUT,
  success: { status: 200, description: "When the session ended", schema: EndedSession },
  errors: [],
} satisfies Operation;
