/**
 * Bounds on what one socket, and one address, may cost.
 *
 * What waits for a reader is bounded twice: past `roomBytes` the frames that only show the latest
 * state (books, tickers, candles) are left out until there is room again; past `maxBufferedBytes`
 * the socket is closed, because the other frames may not be left out. One frame past either is
 * possible: a frame goes out whole or not at all.
 */

import type { BucketRule } from "../limits/token-buckets.js";

export interface SocketLimits {
  readonly socketsPerAddress: number;
  readonly streamsPerSocket: number;
  readonly messageBytes: number;
  /** Fragments that one message may come in. */
  readonly messageFragments: number;
  readonly messagesPerSecond: number;
  readonly messagesBurst: number;
  /** Messages that may wait while the client's address is over its budget. */
  readonly heldMessages: number;
  /** Counts as no less than what Node itself lets wait on a socket (16 KiB in Node 20). */
  readonly roomBytes: number;
  readonly maxBufferedBytes: number;
  /** A socket that has not been heard of for two of these is dead. */
  readonly pingIntervalMs: number;
  /** How long a closing socket may take to say goodbye. */
  readonly closeTimeoutMs: number;
}

export const DEFAULT_SOCKET_LIMITS: SocketLimits = {
  socketsPerAddress: 64,
  streamsPerSocket: 256,
  messageBytes: 65_536,
  messageFragments: 64,
  messagesPerSecond: 200,
  messagesBurst: 400,
  heldMessages: 64,
  roomBytes: 131_072,
  maxBufferedBytes: 1_048_576,
  pingIntervalMs: 15_000,
  closeTimeoutMs: 5_000,
};

/** What is wrong with the limits taken together, in the words of the settings; undefined if nothing. */
export function socketLimitsProblem(limits: SocketLimits): string | undefined {
  const { roomBytes, maxBufferedBytes } = limits;
  if (roomBytes <= maxBufferedBytes) return undefined;
  return (
    `"sockets.roomBytes" (${roomBytes}) must not be above ` +
    `"sockets.maxBufferedBytes" (${maxBufferedBytes})`
  );
}

export function messageRule(limits: SocketLimits): BucketRule {
  return {
    name: "messages",
    perSecond: limits.messagesPerSecond,
    burst: limits.messagesBurst,
  };
}
