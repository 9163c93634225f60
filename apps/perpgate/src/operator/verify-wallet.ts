/** Which wallet signed a sign-in message, from the message and the signature alone (EIP-191). */

import { hexFromBytes } from "@perpgate/protocol/core";
import type { RecoverWallet } from "@perpgate/venue";
import { type Hex, hashMessage, recoverAddress } from "viem";

/** The address in lower-case hex, or null where no key can have made the signature. */
export const recoverWallet: RecoverWallet = async (message, signature) => {
  const parts = partsOf(signature);
  if (parts === undefined) return null;
  try {
    const hash = hashMessage({ raw: message });
    const address = await recoverAddress({ hash, signature: parts });
    return address.slice(2).toLowerCase();
  } catch {
    // No point has this r, or r or s is out of range.
    return null;
  }
};

/** 65 bytes with v 0, 1, 27 or 28, or the 64 bytes of EIP-2098. */
function partsOf(
  bytes: Uint8Array,
): { readonly r: Hex; readonly s: Hex; readonly yParity: number } | undefined {
  const r: Hex = `0x${hexFromBytes(bytes.subarray(0, 32))}`;
  const s = bytes.slice(32, 64);
  if (bytes.length === 64) {
    const yParity = (s[0] ?? 0) >> 7;
    s[0] = (s[0] ?? 0) & 0x7f;
    return { r, s: `0x${hexFromBytes(s)}`, yParity };
  }
  const v = bytes[64];
  if (bytes.length !== 65 || v === undefined || ![0, 1, 27, 28].includes(v)) return undefined;
  return { r, s: `0x${hexFromBytes(s)}`, yParity: v === 1 || v === 28 ? 1 : 0 };
}
