/**
 * Server frames as MessagePack, so plain that any decoder reads them.
 *
 * Maps are maps (msgpackr's record extension would need msgpackr on the other end) and packed book
 * sides are `bin`. Numbers: whole ones of up to 32 bits as integers, all others, times and large
 * positions among them, as 64-bit floats, which hold every safe integer exactly. A 64-bit integer
 * would come out of some decoders as a BigInt. No extension type is ever written.
 *
 * This module is a subpath of its own, so that whoever needs only schemas does not load msgpackr.
 */

import { Packr } from "msgpackr";
import type { ServerFrame } from "./streams.js";

const packr = new Packr({
  useRecords: false,
  variableMapSize: true,
  mapsAsObjects: true,
  encodeUndefinedAsNil: true,
  int64AsType: "number",
});

export class FrameError extends RangeError {
  override readonly name = "FrameError";
}

/** The bytes are the caller's to keep: they are not overwritten by the next frame. */
export function encodeFrame(frame: ServerFrame): Uint8Array {
  // Built anew, so that an absent subject is absent on the wire, not nil.
  return packr.pack(
    frame.s === undefined ? { t: frame.t, d: frame.d } : { t: frame.t, s: frame.s, d: frame.d },
  );
}

/** Refuses bytes that are not exactly one frame. */
export function decodeFrame(bytes: Uint8Array): ServerFrame {
  const value: unknown = unpack(bytes);
  if (typeof value !== "object" || value === null) throw new FrameError("not a map");
  const { t, s, d }: Readonly<Record<string, unknown>> = { ...value };
  if (typeof t !== "string") throw new FrameError("`t` is not a string");
  if (s === undefined) return { t, d };
  if (typeof s !== "string") throw new FrameError("`s` is not a string");
  return { t, s, d };
}

function unpack(bytes: Uint8Array): unknown {
  try {
    return packr.unpack(bytes);
  } catch (error) {
    throw new FrameError("not one MessagePack value", { cause: error });
  }
}
