/**
 * Differences between chains with `eth_*` methods: the notation of addresses and hashes. Internally
 * an address is 40 lower-case hex digits and a hash 64.
 */

import {
  bytesFromHex,
  hexFromBytes,
  isChecksummedAddress,
  withoutHexPrefix,
} from "@perpgate/protocol/core";
import { tronAddressBytes } from "./tron-address.js";

export interface Dialect {
  /** Parses an address of the configuration. */
  configuredAddress(text: string): string | undefined;
  /** Parses an address in a node's response. */
  responseAddress(text: string): string | undefined;
  /** A transaction hash as a request parameter. */
  requestHash(txHash: string): string;
}

export const EVM_DIALECT: Dialect = {
  // A mixed-case address must carry a correct EIP-55 checksum: a mistyped vault costs money.
  configuredAddress: (text) =>
    isChecksummedAddress(text) ? text.slice(2).toLowerCase() : undefined,
  responseAddress: twentyBytes,
  requestHash: (txHash) => `0x${txHash}`,
};

/** See docs/deposits.md for what Tron's nodes do differently, and where that is documented. */
export const TRON_DIALECT: Dialect = {
  configuredAddress: (text) => {
    const bytes = tronAddressBytes(text);
    return bytes === undefined ? undefined : hexFromBytes(bytes);
  },
  // Nodes return 20 bytes; the 21-byte form has Tron's prefix.
  responseAddress: (text) => twentyBytes(text) ?? prefixedTwentyBytes(text),
  // Tron writes transaction ids without `0x`; nodes accept both.
  requestHash: (txHash) => txHash,
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
