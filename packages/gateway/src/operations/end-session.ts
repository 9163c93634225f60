import { EndedSession } from "@perpgate/protocol";
import { defineVenueOperation, noBody, noParams, noQuery } from "../http/operation.js";

export const endSession = defineVenueOperation({
  id: "endSession",
  method: "DELETE",
  path: "/v1/auth/session",
  tag: "auth",
  summary: "Sign out: the token stops working",
  access: "bearer",
  costMicros: 60,
  bodyBytes: 1_024,
  params: noParams,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "When the session ended", schema: EndedSession },
  errors: [],
  handle: ({ caller }, venue) => venue.endSession(caller()),
});
