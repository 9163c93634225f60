/** The gateway: what a process needs to serve the contract in front of a venue. */

export { MIN_NONCE_KEY_BYTES, NonceIssuer } from "./auth/nonce-issuer.js";
export type { SignInProofs } from "./auth/proofs/proof-job.js";
export { ProofThread } from "./auth/proofs/proof-thread.js";
export type { SignInRules, SignInServices } from "./auth/sign-in.js";
export { ThreadVerifier } from "./auth/verification/thread-verifier.js";
export type { TrustedProxies } from "./http/client-address.js";
export type { ReadinessProbe } from "./http/context.js";
export type { AllowedOrigins } from "./http/cors.js";
export { type MetricsAddress, MetricsServer } from "./http/metrics-server.js";
export { MetricsText } from "./http/metrics-text.js";
export {
  buildGateway,
  type Gateway,
  type GatewayOptions,
} from "./http/server.js";
export { CostBudgets, type CostMetrics } from "./limits/cost-budget.js";
export { DEFAULT_LIMITS, type LimitSettings } from "./limits/limit-settings.js";
export { AccountLimits, AddressLimits } from "./limits/limits.js";
export type { Signed } from "./request.js";
export type { Attestation } from "./venue/attestation.js";
export { VenueGateway, type VenueGatewayOptions } from "./venue/venue-gateway.js";
export { StreamServer, type StreamServerOptions } from "./ws/stream-server.js";
