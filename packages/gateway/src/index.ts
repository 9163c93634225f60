/** What a process needs to serve the contract of a venue over HTTP and WebSockets. */

export { RpcContractWallets } from "./auth/contract-wallets.js";
export { NonceIssuer } from "./auth/nonce-issuer.js";
export type { SignInRules } from "./auth/sign-in.js";
export { Edge } from "./edge.js";
export { buildGateway } from "./http/server.js";
export { type LimitSettings, UNLIMITED } from "./limits/limit-settings.js";
export { AddressLimits } from "./limits/limits.js";
export type { Signed } from "./request.js";
export { StreamServer } from "./ws/stream-server.js";
