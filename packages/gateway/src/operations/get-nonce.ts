import { Nonce } from "@perpgate/protocol";
import { defineOperation, noBody, noParams, noQuery } from "../http/operation.js";

export const getNonce = defineOperation({
  id: "getNonce",
  method: "GET",
  path: "/v1/auth/nonce",
  tag: "auth",
  summary: "A nonce for a sign-in message",
  access: "public",
  limit: "reads",
  costMicros: 20,
  params: noParams,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "A nonce that any gateway recognises", schema: Nonce },
  errors: [],
  handle: (_call, { nonces, clock }) => nonces.issue(clock()),
});
