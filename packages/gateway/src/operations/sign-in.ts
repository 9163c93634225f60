import { SessionToken, SignInBody } from "@perpgate/protocol";
import { defineVenueOperation, noParams, noQuery } from "../http/operation.js";

export const signIn = defineVenueOperation({
  id: "signIn",
  method: "POST",
  path: "/v1/auth/siwe",
  tag: "auth",
  summary: "Sign in with Ethereum: trade a signed message for a token",
  access: "public",
  limit: "sign-ins",
  costMicros: 5_000,
  bodyBytes: 40_960,
  params: noParams,
  query: noQuery,
  body: SignInBody,
  success: { status: 200, description: "A token for this session", schema: SessionToken },
  errors: [
    "invalid_session_key",
    "invalid_siwe_message",
    "siwe_domain_not_allowed",
    "siwe_domain_mismatch",
    "siwe_chain_not_allowed",
    "siwe_message_too_old",
    "siwe_message_from_future",
    "siwe_message_expired",
    "siwe_message_not_yet_valid",
    "siwe_nonce_used",
    "siwe_nonce_not_issued",
    "session_key_mismatch",
    "session_key_not_bound",
    "chain_rpc_not_configured",
    "invalid_signature",
    "not_ready",
    "overloaded",
  ],
  handle: ({ body, client }, venue, { addressLimits }) =>
    addressLimits.signIn(client.address, client.header, () => venue.signIn(client, body)),
});
