import { Nonce } from "../sign-in.js";
import { noBody, noParams, noQuery, type Operation } from "./operation.js";

export const getNonce = {
  id: "getNonce",
  method: "GET",
  path: "/v1/auth/nonce",
  tag: "auth",
  summary: "A nonce for a sign-in message",
  access: "public",
  needsVenue: false,
  limit: "reads",
  costMicros: 20,
  params: noParams,
  query: noQuery,
  body: noBody,
  success: { status: 200, description: "A nonce that any gateway recognises", schema: Nonce },
  errors: [],
} satisfies Operation;
