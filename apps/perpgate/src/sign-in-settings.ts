/**
 * Who may sign in, from the settings.
 *
 * Any domain is accepted only where nobody but this machine can ask: a gateway on loopback, with no
 * proxy in front, on a testnet whose money is made up. Everywhere else a page of another domain
 * could collect signatures and sign in with them here, so the domains must be named.
 */

import { isIP } from "node:net";
import type { SignInRules } from "@perpgate/gateway";
import type { Settings } from "./settings.js";
import { StartError } from "./start-error.js";

export function signInRulesOf({ auth, host, server }: Settings): SignInRules {
  const { domains, chainIds } = auth;
  if (domains === undefined && (!isLoopback(host) || server.trustProxy !== false)) {
    throw new StartError(
      `"auth.domains" must list the domains of the pages that sign in: ` +
        `${isLoopback(host) ? "a proxy is trusted" : `${host} is not loopback`}`,
    );
  }
  return {
    domains: domains === undefined ? "any" : new Set(domains),
    chainIds: chainIds === undefined ? undefined : new Set(chainIds),
    nonce: auth.nonce,
    requireKeyBinding: auth.requireKeyBinding,
  };
}

export function rpcAddressesOf({ auth }: Settings): ReadonlyMap<number, string> {
  return new Map(Object.entries(auth.rpc).map(([chainId, url]) => [Number(chainId), url]));
}

function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, "$1");
  if (address === "localhost") return true;
  return isIP(address) === 6 ? address === "::1" : /^127\.\d+\.\d+\.\d+$/.test(address);
}
