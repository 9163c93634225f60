/**
 * Session keys: the bytes and, by their number, the kind.
 *
 * Only the shape is judged here. Whether the bytes are a valid point is for whoever holds the
 * curves; a key that passed this file alone must never be trusted with an order.
 */

import { bytesFromHex } from "./hex.js";

export type KeyKind = "ed25519" | "secp256k1";

export interface SessionKeyBytes {
  readonly kind: KeyKind;
  readonly bytes: Uint8Array;
}

/** 32, 33, 64 or 65 bytes of hex; the same rule as `parseSessionKey`, for schemas. */
export const SESSION_KEY_PATTERN =
  "^(0[xX])?([0-9a-fA-F]{64}|[0-9a-fA-F]{66}|[0-9a-fA-F]{128}|[0-9a-fA-F]{130})$";

const KIND_BY_LENGTH: ReadonlyMap<number, KeyKind> = new Map([
  [32, "ed25519"],
  [33, "secp256k1"],
  [64, "secp256k1"],
  [65, "secp256k1"],
]);

export function parseSessionKey(text: string): SessionKeyBytes | undefined {
  const bytes = bytesFromHex(text);
  if (bytes === undefined) return undefined;
  const kind = KIND_BY_LENGTH.get(bytes.length);
  return kind === undefined ? undefined : { kind, bytes };
}
