/**
 * The frames of the private streams: one per stream and log seq, with the same bytes whether it is sent
 * live or to a client that resumes.
 */

import type { PrivateUpdate } from "@perpgate/link";
import type { PrivateStream } from "@perpgate/protocol";
import { type AddressChecksums, withChecksums } from "../../operations/address-checksums.js";
import { streamFrame, type WireFrame, wireFrame } from "../wire-frame.js";

export function privateFrame(update: PrivateUpdate, checksums: AddressChecksums): WireFrame {
  const { name: t, value } = update;
  if (t !== "deposits") return wireFrame({ t, d: value });
  const deposits = value.deposits.map((one) => withChecksums(one, checksums));
  return streamFrame(t, { ...value, deposits });
}

/** Tells the client that changes between `since` and `seq` cannot be sent. */
export function gapFrame(stream: PrivateStream, since: number, seq: number): WireFrame {
  return streamFrame(stream, { type: "gap", since, seq });
}
