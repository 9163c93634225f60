import { Nonce } from "../sign-in.js";
import { NO_INPUT, type Operation } from "./operation.js";

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
  ...NO_INPUT,
  success: { status: 200, description: "A nonce that any gateway recognises", schema: Nonce },
  errors: [],
} satisfies Operation;
