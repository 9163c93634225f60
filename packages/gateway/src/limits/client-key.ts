/**
 * The key under which a network address is counted: an IPv4 address itself, also if it is mapped into
 * IPv6; the /64 of an IPv6 address, since a customer owns a whole /64 and could use a new address for
 * each request.
 */

import { isIPv4, isIPv6 } from "node:net";

export function clientKeyOf(address: string): string {
  // Fast path: no IPv6 address is without a colon.
  if (!address.includes(":")) return address;
  const plain = address.replace(/%.*$/, "");
  if (!isIPv6(plain)) return plain;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  return `${firstGroups(plain).join(":")}::/64`;
}

/** The first four groups of a valid IPv6 address, without leading zeros. */
function firstGroups(address: string): string[] {
  const [head = "", tail] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  // A dotted quad at the end is two groups.
  const afterGroups = after.length + (after.at(-1)?.includes(".") === true ? 1 : 0);
  const zeros = tail === undefined ? 0 : 8 - before.length - afterGroups;
  const groups = [...before, ...Array<string>(Math.max(0, zeros)).fill("0"), ...after];
  return groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
}
