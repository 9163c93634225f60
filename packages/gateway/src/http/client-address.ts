/** The address of a request's client: the peer's, or the one that a trusted proxy forwards. */

import type { IncomingMessage } from "node:http";
import proxyAddr from "@fastify/proxy-addr";

/**
 * Which proxies may name the client: none, this number of hops in front of the process, or the listed
 * addresses and networks. Trusting every proxy is not possible.
 */
export type TrustedProxies = false | number | readonly string[];

type ProxyTrust = false | string[] | ((address: string, hop: number) => boolean);

export type ClientAddressOf = (request: IncomingMessage) => string;

/** The setting as Fastify's `trustProxy` and proxy-addr take it; hops are counted from this process. */
export function proxyTrustOf(trusted: TrustedProxies): ProxyTrust {
  if (typeof trusted === "number") return (_address, hop) => hop < trusted;
  return trusted === false ? false : [...trusted];
}

export function clientAddressOf(trusted: TrustedProxies): ClientAddressOf {
  const isTrusted = trustOf(trusted);
  if (isTrusted === undefined) return (request) => request.socket.remoteAddress ?? "";
  return (request) => proxyAddr(request, isTrusted);
}

/** Whether the direct peer of a connection is a trusted proxy. */
export function trustedPeer(trusted: TrustedProxies): (address: string) => boolean {
  const isTrusted = trustOf(trusted);
  return (address) => isTrusted?.(address, 0) === true;
}

/** The first listed proxy that is neither an address nor a network; undefined if there is none. */
export function unknownProxy(trusted: TrustedProxies): string | undefined {
  if (typeof trusted !== "object") return undefined;
  return trusted.find((proxy) => {
    try {
      proxyAddr.compile(proxy);
      return false;
    } catch {
      return true;
    }
  });
}

function trustOf(trusted: TrustedProxies) {
  const trust = proxyTrustOf(trusted);
  if (trust === false) return undefined;
  return typeof trust === "function" ? trust : proxyAddr.compile(trust);
}
