/**
 * What differs between chains that answer `eth_*` methods: how addresses and hashes are written.
 * Inside, an address is 40 lower-case hex digits and a hash 64, on every chain.
 */

import {
  bytesFromHex,
  hexFromBytes,
  isChecksummedAddress,
  withoutHexPrefix,
} from "@perpgate/protocol";
import { tronAddressBytes } from "./tron-address.js";

export interface Dialect {
  /** An address as an operator writes it, or undefined. */
  configuredAddress(text: string): string | undefined;
  /** An address as a node answers it, or undefined. */
  answeredAddress(text: string): string | undefined;
  /** A transaction's hash as a node is asked for it. */
  askedHash(txHash: string): string;
}

export const EVM_DIALECT: Dialect = {
  // A mixed-case address must carry a correct EIP-55 checksum: a mistyped vault costs money.
  configuredAddress: (text) =>
    isChecksummedAddress(text) ? text.slice(2).toLowerCase() : undefined,
  answeredAddress: twentyBytes,
  askedHash: (txHash) => `0x${txHash}`,
};

/** See docs/deposits.md for what Tron's nodes do differently, and where that is documented. */
export const TRON_DIALECT: Dialect = {
  configuredAddress: (text) => {
    const bytes = tronAddressBytes(text);
    return bytes === undefined ? undefined : hexFromBytes(bytes);
  },
  // Nodes answer 20 bytes; the 21-byte form with Tron's prefix means the same owner.
  answeredAddress: (text) => twentyBytes(text) ?? prefixedTwentyBytes(text),
  // A transaction's id has no `0x` on Tron; nodes take both.
  askedHash: (txHash) => txHash,
};

/** 64 lower-case hex digits of a hash in either form, or undefined. */
export function hashDigits(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  const digits = withoutHexPrefix(text).toLowerCase();
  return /^[0-9a-f]{64}$/.test(digits) ? digits : undefined;
}

function twentyBytes(text: string): string | undefined {
  const digits = withoutHexPrefix(text).toLowerCase();
  return /^[0-9a-f]{40}$/.test(digits) ? digits : undefined;
}

function prefixedTwentyBytes(text: string): string | undefined {
  const bytes = bytesFromHex(text);
  return bytes?.length === 21 && bytes[0] === 0x41 ? hexFromBytes(bytes.subarray(1)) : undefined;
}
