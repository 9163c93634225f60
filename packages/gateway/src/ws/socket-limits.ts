/**
 * Bounds on what one socket, and one address, may cost.
 *
 * The write buffer has two bounds: above `roomBytes` the frames that show the latest state (books,
 * tickers, candles) are skipped until there is room; above `maxBufferedBytes` the socket is closed,
 * because the other frames must not be skipped. The buffer may exceed either by one frame.
 */

import type { BucketRule } from "@perpgate/protocol/token-buckets";

export interface SocketLimits {
  readonly socketsPerAddress: number;
  readonly streamsPerSocket: number;
  readonly messageBytes: number;
  /** Fragments of one message. */
  readonly messageFragments: number;
  readonly messagesPerSecond: number;
  readonly messagesBurst: number;
  /** Messages that may wait while the client's address is over its budget. */
  readonly heldMessages: number;
  /** Raised to Node's writableHighWaterMark if lower (64 KiB in Node 24). */
  readonly roomBytes: number;
  readonly maxBufferedBytes: number;
  /** A socket that sends nothing for two intervals is closed. */
  readonly pingIntervalMs: number;
  /** How long the peer may take to answer a close frame. */
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

/** Describes limits that contradict each other, by the names of the settings; undefined if valid. */
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
