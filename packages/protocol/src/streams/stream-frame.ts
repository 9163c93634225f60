/**
 * Server frames as MessagePack that any decoder can read.
 *
 * Maps are maps (msgpackr's record extension needs msgpackr on the other end) and packed book sides are
 * `bin`. Whole numbers of up to 32 bits are integers; all others, such as times and large seqs, are
 * 64-bit floats, which represent every safe integer exactly. Some decoders return a BigInt for a 64-bit
 * integer. No extension type is written.
 *
 * This module is a separate entry of the package, so that the others do not load msgpackr.
 */

import { Packr, Unpackr } from "msgpackr";
import type { ServerFrame } from "./streams.js";

const FORM = {
  useRecords: false,
  variableMapSize: true,
  mapsAsObjects: true,
  encodeUndefinedAsNil: true,
  int64AsType: "number",
} as const;
/** Left out of a page, which decodes only. */
const packr = /* @__PURE__ */ new Packr(FORM);
const unpackr = new Unpackr(FORM);

export class FrameError extends RangeError {
  override readonly name = "FrameError";
}

/** The bytes belong to the caller; the next frame does not overwrite them. */
export function encodeFrame(frame: ServerFrame): Uint8Array {
  // A new object, so that an undefined subject is absent on the wire, not nil.
  return packr.pack(
    frame.s === undefined ? { t: frame.t, d: frame.d } : { t: frame.t, s: frame.s, d: frame.d },
  );
}

/** @throws FrameError for bytes that are not exactly one frame. */
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
    return unpackr.unpack(bytes);
  } catch (error) {
    throw new FrameError("not one MessagePack value", { cause: error });
  }
}
