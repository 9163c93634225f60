/** EIP-55: the capital letters of an address are its checksum, and the sign-in message needs them. */

import { keccak_256 } from "@noble/hashes/sha3.js";
import { hexFromBytes } from "@perpgate/protocol";

/** The address with its checksum; a mixed-case one that is wrong is refused, not mended. */
export function checksumAddress(address: string): string {
  const match = /^0x([0-9a-fA-F]{40})$/.exec(address);
  if (match === null) throw new TypeError(`"${address}" is not an address: 0x and 40 hex digits`);
  const [, digits = ""] = match;
  const lower = digits.toLowerCase();
  const hash = hexFromBytes(keccak_256(new TextEncoder().encode(lower)));
  const letters = [...lower].map((letter, at) =>
    Number.parseInt(hash[at] ?? "0", 16) >= 8 ? letter.toUpperCase() : letter,
  );
  const checked = `0x${letters.join("")}`;
  const isMixed = digits !== lower && digits !== digits.toUpperCase();
  if (isMixed && address !== checked) {
    throw new TypeError(`the checksum of ${address} is wrong; is a digit mistyped?`);
  }
  return checked;
}
