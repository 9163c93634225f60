/**
 * Limits per connection. Slow headers and bodies end at the time-outs, silent connections at the idle
 * time-out. Node checks for overdue requests every `timeoutCheckIntervalMs`.
 */

export { MIN_NONCE_KEY_BYTES } from "../auth/nonce-issuer.js";
export { DEFAULT_BOUND_SESSION_MS } from "../auth/siwe-rules.js";
export { DEFAULT_LIMITS, type LimitSettings } from "../limits/limit-settings.js";
export {
  DEFAULT_SOCKET_LIMITS,
  type SocketLimits,
  socketLimitsProblem,
} from "../ws/socket-limits.js";
export { unknownProxy } from "./client-address.js";

export interface HttpLimits {
  readonly bodyBytes: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly timeoutCheckIntervalMs: number;
  readonly maxConnections: number;
  /** Open connections per client address; a trusted proxy may have more. */
  readonly connectionsPerAddress: number;
  /** A connection with unsent bytes whose peer takes next to nothing for this long is closed. */
  readonly unreadTimeoutMs: number;
  /** Unsent bytes of all connections of a client address, those of the kernel included. */
  readonly unreadBytesPerAddress: number;
  /** Requests that may wait on one connection behind the current one. */
  readonly pipelinedRequests: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  bodyBytes: 65_536,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  idleTimeoutMs: 60_000,
  keepAliveTimeoutMs: 30_000,
  timeoutCheckIntervalMs: 1_000,
  maxConnections: 10_000,
  connectionsPerAddress: 128,
  unreadTimeoutMs: 10_000,
  unreadBytesPerAddress: 16_777_216,
  pipelinedRequests: 64,
};

/** Describes limits that Node refuses, by the names of the settings; undefined if valid. */
export function httpLimitsProblem(limits: HttpLimits): string | undefined {
  const { headersTimeoutMs, requestTimeoutMs } = limits;
  if (headersTimeoutMs <= requestTimeoutMs) return undefined;
  return (
    `"http.headersTimeoutMs" (${headersTimeoutMs}) must not be above ` +
    `"http.requestTimeoutMs" (${requestTimeoutMs})`
  );
}
