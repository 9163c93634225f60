/**
 * How long a signed body may be.
 *
 * The log keeps what a session key has signed, byte for byte and for ever, also where the engine then
 * refuses it. A body may be padded up to the transport's limit, hundreds of times an order's length,
 * so this bound stands before the log, and a body past it leaves no trace there.
 */

import { ApiError } from "@perpgate/protocol";

export function refuseOverlong(bytes: Uint8Array, limitBytes: number): void {
  if (bytes.length > limitBytes) throw new ApiError("body_too_large", { limitBytes });
}
