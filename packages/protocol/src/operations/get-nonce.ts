import { Nonce } from "../accounts/sign-in.js";
import { GATEWAY_READ, type Operation } from "./operation.js";

export const getNonce = {
  id: "getNonce",
  ...GATEWAY_READ,
  path: "/v1/auth/nonce",
  tag: "auth",
  summary: "A nonce for a sign-in message",
  costMicros: 120,
  success: { status: 200, description: "A nonce that any gateway recognises", schema: Nonce },
  errors: [],
} satisfies Operation;
