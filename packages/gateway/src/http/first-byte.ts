/**
 * How long ago the first byte of a request was read. Node emits a request once its headers are complete,
 * which is later if they arrived in pieces.
 *
 * Node's parser has this in an undocumented method; without it the request counts from its event, which
 * is the same read for a request in one piece.
 */

import type { IncomingMessage } from "node:http";

interface MessageParser {
  /** Milliseconds since the first byte of the current message. */
  duration(): number;
}

/** Must be called in the request event: afterwards the parser may be at the next request. */
export function firstByteAgoMs({ socket }: IncomingMessage): number {
  const parser: unknown = Reflect.get(socket, "parser");
  if (!isParser(parser)) return 0;
  const agoMs = parser.duration();
  return agoMs > 0 ? agoMs : 0;
}

function isParser(value: unknown): value is MessageParser {
  return (
    typeof value === "object" &&
    value !== null &&
    "duration" in value &&
    typeof value.duration === "function"
  );
}
