/**
 * A server frame as bytes: WebSocket header and MessagePack payload in one buffer.
 *
 * Server frames are neither masked nor compressed, so the bytes are the same for every reader: encoded
 * once and written to each socket. One buffer instead of two also halves the number of writes.
 */

import type { ServerFrame } from "@perpgate/protocol";
import type { StreamChannel, StreamPayload } from "@perpgate/protocol/operations";
import { encodeFrame } from "@perpgate/protocol/stream-frame";

const FINAL_BINARY = 0x82;
const MAX_SHORT = 125;
const MAX_MEDIUM = 0xffff;

export type WireFrame = Buffer;

/** A frame of a stream, whose payload has the shape of its contract. */
export function streamFrame<S extends StreamChannel["stream"]>(
  t: S,
  d: StreamPayload<S>,
  s?: string,
): WireFrame {
  return wireFrame(s === undefined ? { t, d } : { t, s, d });
}

export function wireFrame(frame: ServerFrame): WireFrame {
  const payload = encodeFrame(frame);
  const { length } = payload;
  const headerBytes = length <= MAX_SHORT ? 2 : length <= MAX_MEDIUM ? 4 : 10;
  const bytes = Buffer.allocUnsafe(headerBytes + length);
  bytes[0] = FINAL_BINARY;
  if (headerBytes === 2) {
    bytes[1] = length;
  } else if (headerBytes === 4) {
    bytes[1] = 126;
    bytes.writeUInt16BE(length, 2);
  } else {
    bytes[1] = 127;
    bytes.writeBigUInt64BE(BigInt(length), 2);
  }
  bytes.set(payload, headerBytes);
  return bytes;
}
