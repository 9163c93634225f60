/**
 * The gateway's own rules for a well-formed sign-in message: when, for which domain, on which chain.
 *
 * Each rule is a function that refuses or returns; the time comes in as an argument. The domain is
 * compared with the URI and with the configured list, never with the `Host` header, which whoever
 * relays a stolen message chooses freely.
 */

import { ApiError } from "@perpgate/protocol";
import type { SiweMessage } from "./siwe-message.js";

export const MAX_MESSAGE_AGE_MS = 600_000;
export const MAX_CLOCK_LEAD_MS = 60_000;
export const MAX_SESSION_MS = 24 * 3_600_000;

const FIELD = { field: "message" } as const;

/** `"any"` is for a local testnet alone, which no stranger can reach. */
export type AllowedDomains = "any" | ReadonlySet<string>;

/** Signed within the last ten minutes, and at most a minute ahead. */
export function checkIssuedAt({ issuedAtMs }: SiweMessage, nowMs: number): void {
  const details = { issuedAt: issuedAtMs, serverTime: nowMs };
  if (issuedAtMs < nowMs - MAX_MESSAGE_AGE_MS) {
    throw new ApiError("siwe_message_too_old", {}, { ...FIELD, details });
  }
  if (issuedAtMs > nowMs + MAX_CLOCK_LEAD_MS) {
    throw new ApiError("siwe_message_from_future", {}, { ...FIELD, details });
  }
}

/** Within what the message itself says about its validity. */
export function checkValidity({ expiresAtMs, notBeforeMs }: SiweMessage, nowMs: number): void {
  if (expiresAtMs !== undefined && nowMs >= expiresAtMs) {
    throw new ApiError("siwe_message_expired", { expirationTime: isoOf(expiresAtMs) }, FIELD);
  }
  if (notBeforeMs !== undefined && nowMs < notBeforeMs) {
    throw new ApiError("siwe_message_not_yet_valid", { notBefore: isoOf(notBeforeMs) }, FIELD);
  }
}

export function checkDomain(message: SiweMessage, allowed: AllowedDomains): void {
  const { domain } = message;
  const { scheme, authority } = originOf(message.uri);
  if (domain !== authority) {
    throw new ApiError("siwe_domain_mismatch", { domain, authority: authority ?? "none" }, FIELD);
  }
  if (message.scheme !== undefined && message.scheme !== scheme) {
    const [signed, given] = [`${message.scheme}://${domain}`, `${scheme}://${authority}`];
    throw new ApiError("siwe_domain_mismatch", { domain: signed, authority: given }, FIELD);
  }
  if (allowed !== "any" && !allowed.has(domain)) {
    throw new ApiError("siwe_domain_not_allowed", { domain }, FIELD);
  }
}

/** An undefined set accepts every chain. */
export function checkChain(
  { chainId }: SiweMessage,
  allowed: ReadonlySet<number> | undefined,
): void {
  if (allowed !== undefined && !allowed.has(chainId)) {
    throw new ApiError("siwe_chain_not_allowed", { chainId }, FIELD);
  }
}

/** A session ends with its message, and after a day at the latest. */
export function sessionEndOf({ expiresAtMs }: SiweMessage, nowMs: number): number {
  return Math.min(expiresAtMs ?? Number.POSITIVE_INFINITY, nowMs + MAX_SESSION_MS);
}

/**
 * When the message can no longer be accepted by any gateway, so that its nonce may be forgotten.
 * The allowance is for clocks of gateways and log that differ, twice what one may be ahead.
 */
export function nonceForgottenAt({ issuedAtMs }: SiweMessage): number {
  return issuedAtMs + MAX_MESSAGE_AGE_MS + 2 * MAX_CLOCK_LEAD_MS;
}

/** Scheme and authority of a URI that the grammar has accepted. */
function originOf(uri: string): { scheme: string; authority: string | undefined } {
  const match = /^([^:]+):(?:\/\/([^/?#]*))?/.exec(uri);
  return { scheme: match?.[1] ?? "", authority: match?.[2] };
}

function isoOf(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
