/**
 * Where a socket comes from, by the same rule as a request: the peer's address, or what a proxy that
 * is trusted says. Without it every client behind a proxy would count as one.
 */

import type { IncomingMessage } from "node:http";
import proxyAddr from "@fastify/proxy-addr";

export type ProxyTrust = false | string[] | ((address: string, hop: number) => boolean);

export type ClientAddressOf = (request: IncomingMessage) => string;

export function clientAddressOf(trust: ProxyTrust): ClientAddressOf {
  if (trust === false) return (request) => request.socket.remoteAddress ?? "";
  const isTrusted = typeof trust === "function" ? trust : proxyAddr.compile(trust);
  return (request) => proxyAddr(request, isTrusted);
}

/** Whether the direct peer of a connection is a proxy that is believed. */
export function trustedPeer(trust: ProxyTrust): (address: string) => boolean {
  if (trust === false) return () => false;
  const isTrusted = typeof trust === "function" ? trust : proxyAddr.compile(trust);
  return (address) => isTrusted(address, 0);
}
