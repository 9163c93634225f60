/**
 * The key under which a network address is counted: an IPv4 address itself, also if it is mapped into
 * IPv6; the /64 of an IPv6 address, since a customer owns a whole /64 and could use a new address for
 * each request.
 *
 * A proxy may forward the client's port too, which differs between its connections, or text that the
 * client has chosen. The port is not part of the key, and text that is no address has one key. A key is its
 * own key.
 */

import { isIPv4, isIPv6 } from "node:net";

const NO_ADDRESS = "no address";
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]*)\])(?::\d+)?$/;

export function clientKeyOf(address: string): string {
  // Fast path: most are.
  if (isIPv4(address)) return address;
  const [, ipv4, ipv6 = address] = WITH_PORT.exec(address) ?? [];
  if (ipv4 !== undefined) return isIPv4(ipv4) ? ipv4 : NO_ADDRESS;
  const plain = ipv6.replace(/%.*$|\/64$/, "");
  if (!isIPv6(plain)) return NO_ADDRESS;
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
