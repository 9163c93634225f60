/**
 * Bounds on what one connection may cost.
 *
 * A client that sends its headers or body a byte at a time is cut off by the time-outs, one that
 * opens sockets and says nothing by the idle time-out, a crowd by the connection count. Node looks
 * for overdue requests only every so often, so that interval is a bound as well.
 */

export { DEFAULT_LIMITS, type LimitSettings } from "../limits/limit-settings.js";
export {
  DEFAULT_SOCKET_LIMITS,
  type SocketLimits,
  socketLimitsProblem,
} from "../ws/socket-limits.js";

export interface HttpLimits {
  readonly bodyBytes: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly timeoutCheckIntervalMs: number;
  readonly maxConnections: number;
  /** Connections that one client address may hold; a trusted proxy may hold more. */
  readonly connectionsPerAddress: number;
  /** Requests that may wait on one connection behind the one that is served. */
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
  pipelinedRequests: 64,
};
