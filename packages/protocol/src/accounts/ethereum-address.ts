/** EIP-55: the capital letters of an Ethereum address are its checksum. */

import { keccak_256 } from "@noble/hashes/sha3.js";
import { hexFromBytes } from "../text/hex.js";

type EthereumAddress = `0x${string}`;

const ADDRESS = /^0x([0-9a-fA-F]{40})$/;

/** Whether it is an address in lower case or with a valid checksum. */
export function isChecksummedAddress(text: string): text is EthereumAddress {
  const [, digits] = ADDRESS.exec(text) ?? [];
  if (digits === undefined) return false;
  return digits === digits.toLowerCase() || text === withChecksum(digits);
}

/** The address with its checksum; throws for a mixed-case one with a wrong checksum. */
export function checksumAddress(address: string): EthereumAddress {
  const [, digits] = ADDRESS.exec(address) ?? [];
  if (digits === undefined) {
    throw new TypeError(`"${address}" is not an address: 0x and 40 hex digits`);
  }
  const checked = withChecksum(digits);
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (isMixed && address !== checked) {
    throw new TypeError(`the checksum of ${address} is wrong; is a digit mistyped?`);
  }
  return checked;
}

function withChecksum(digits: string): EthereumAddress {
  const lower = digits.toLowerCase();
  const hash = hexFromBytes(keccak_256(new TextEncoder().encode(lower)));
  const letters = [...lower].map((letter, at) =>
    Number.parseInt(hash[at] ?? "0", 16) >= 8 ? letter.toUpperCase() : letter,
  );
  return `0x${letters.join("")}`;
}
