/**
 * Tron addresses: 0x41 and the 20 bytes of the same key's Ethereum address, in base58 with a checksum
 * (the first four bytes of double SHA-256). The 20 bytes identify the account on all chains.
 */

import { createHash } from "node:crypto";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const PREFIX = 0x41;
const ADDRESS_BYTES = 20;
const CHECKSUM_BYTES = 4;

/** The 20 bytes of a `T…` address; undefined if prefix, length or checksum is wrong. */
export function tronAddressBytes(text: string): Uint8Array | undefined {
  // 25 bytes that begin with 0x41 always have 34 digits.
  if (text.length !== 34) return undefined;
  let value = 0n;
  for (const digit of text) {
    const index = ALPHABET.indexOf(digit);
    if (index < 0) return undefined;
    value = value * 58n + BigInt(index);
  }
  const hex = value.toString(16).padStart(2 * (1 + ADDRESS_BYTES + CHECKSUM_BYTES), "0");
  const bytes = Buffer.from(hex, "hex");
  if (bytes.length !== 1 + ADDRESS_BYTES + CHECKSUM_BYTES || bytes[0] !== PREFIX) return undefined;
  const payload = bytes.subarray(0, 1 + ADDRESS_BYTES);
  const given = bytes.subarray(1 + ADDRESS_BYTES);
  return checksumOf(payload).equals(given) ? payload.subarray(1) : undefined;
}

/** The `T…` form of 20 bytes. */
export function tronAddressOf(bytes: Uint8Array): string {
  if (bytes.length !== ADDRESS_BYTES) throw new RangeError("an address is 20 bytes");
  const payload = Buffer.concat([Buffer.from([PREFIX]), bytes]);
  const whole = Buffer.concat([payload, checksumOf(payload)]);
  let value = BigInt(`0x${whole.toString("hex")}`);
  let text = "";
  for (; value > 0n; value /= 58n) text = `${ALPHABET[Number(value % 58n)]}${text}`;
  return text;
}

function checksumOf(payload: Uint8Array): Buffer {
  const once = createHash("sha256").update(payload).digest();
  return createHash("sha256").update(once).digest().subarray(0, CHECKSUM_BYTES);
}
