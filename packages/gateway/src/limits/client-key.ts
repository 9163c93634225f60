/**
 * Which bucket a network address counts in.
 *
 * An IPv4 address counts alone, also where it comes mapped into IPv6. An IPv6 customer holds a whole
 * /64 and could take a new address for each request, so the /64 counts as one.
 */

import { isIPv4, isIPv6 } from "node:net";

export function clientKeyOf(address: string): string {
  // Without a colon it is no IPv6 address, which costs more to find out in full.
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
  // A dotted quad at the end stands for two groups.
  const afterGroups = after.length + (after.at(-1)?.includes(".") === true ? 1 : 0);
  const zeros = tail === undefined ? 0 : 8 - before.length - afterGroups;
  const groups = [...before, ...Array<string>(Math.max(0, zeros)).fill("0"), ...after];
  return groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
}
