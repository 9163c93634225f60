/** The gateway: what a process needs to serve the contract in front of a venue. */

export { MIN_NONCE_KEY_BYTES, NonceIssuer } from "./auth/nonce-issuer.js";
export type { ReadinessProbe } from "./http/context.js";
export { buildGateway, type Gateway, type GatewayOptions } from "./http/server.js";
export type { Caller, Signed, VenuePort } from "./venue-port.js";
