/**
 * Who may sign in, from the settings.
 *
 * Any domain is accepted only if nobody but this machine can send requests: a gateway on loopback
 * without a proxy, on a testnet with test money. Otherwise a page of another domain could collect
 * signatures and sign in with them here, so the domains must be configured.
 */

import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import type { SignInRules } from "@perpgate/gateway";
import { MIN_NONCE_KEY_BYTES } from "@perpgate/gateway/limits";
import { StartError } from "../cli/start-error.js";
import type { Settings } from "./settings.js";

export function signInRulesOf(
  { auth, host, server }: Settings,
  attestor: "dev" | "chain",
): SignInRules {
  const { domains, chainIds } = auth;
  const reason = reasonForDomains(host, server.trustProxy !== false, attestor);
  if (domains === undefined && reason !== undefined) {
    throw new StartError(
      `"auth.domains" must list the domains of the pages that sign in: ${reason}`,
    );
  }
  return {
    domains: domains === undefined ? "any" : new Set(domains),
    chainIds: chainIds === undefined ? undefined : new Set(chainIds),
    nonce: auth.nonce,
    requireKeyBinding: auth.requireKeyBinding,
    maxBoundSessionMs: auth.maxBoundSessionMs,
  };
}

function reasonForDomains(
  host: string,
  isProxyTrusted: boolean,
  attestor: "dev" | "chain",
): string | undefined {
  if (!isLoopback(host)) return `${host} is not loopback`;
  if (isProxyTrusted) return "a proxy is trusted";
  return attestor === "chain" ? "deposits come from a chain" : undefined;
}

export function rpcAddressesOf({ auth }: Settings): ReadonlyMap<number, string> {
  return new Map(Object.entries(auth.rpc).map(([chainId, url]) => [Number(chainId), url]));
}

export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, "$1");
  if (address === "localhost") return true;
  return isIP(address) === 6 ? address === "::1" : /^127\.\d+\.\d+\.\d+$/.test(address);
}

/** Without a configured key, only this process recognises its nonces. */
export function nonceKeyOf({ auth }: Settings): Uint8Array {
  if (auth.nonceKey === undefined) return randomBytes(MIN_NONCE_KEY_BYTES);
  return Buffer.from(auth.nonceKey, "hex");
}
