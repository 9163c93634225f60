/**
 * How long ago the first byte of a request was read. Node raises a request once its headers are
 * whole; of one that came in pieces the first is older than that.
 *
 * Node's parser knows, under a name that no documentation promises: where it is missing, a request
 * began when it was raised, which for one that came in one piece is the same read.
 */

import type { IncomingMessage } from "node:http";

interface MessageParser {
  /** Milliseconds since the first byte of the message under way. */
  duration(): number;
}

/** To be asked when the request is raised: later the parser may be at the next one. */
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
