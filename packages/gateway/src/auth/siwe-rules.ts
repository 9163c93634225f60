/**
 * The gateway's rules for the time, domain and chain of a well-formed sign-in message.
 *
 * Each rule throws an `ApiError` or returns. The domain is compared with the URI and the configured list,
 * never with the `Host` header, which an attacker who relays a stolen message can set freely.
 */

import { ApiError } from "@perpgate/protocol/core";
import type { SiweMessage } from "./siwe-message.js";

const MAX_MESSAGE_AGE_MS = 600_000;
const MAX_CLOCK_LEAD_MS = 60_000;
const MAX_SESSION_MS = 24 * 3_600_000;
export const DEFAULT_BOUND_SESSION_MS = 30 * MAX_SESSION_MS;

const FIELD = { field: "message" } as const;

/** `"any"` is only for a local testnet that cannot be reached from outside. */
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

/** Checks the message's own Expiration Time and Not Before. */
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

/** `allowed` undefined: every chain. */
export function checkChain(
  { chainId }: SiweMessage,
  allowed: ReadonlySet<number> | undefined,
): void {
  if (allowed !== undefined && !allowed.has(chainId)) {
    throw new ApiError("siwe_chain_not_allowed", { chainId }, FIELD);
  }
}

/**
 * A session ends with its message, and after a day at the latest. One whose message states its end and
 * binds its key, so that a stolen signature opens no other session, may last for `maxBoundMs`.
 */
export function sessionEndOf(
  { expiresAtMs }: SiweMessage,
  nowMs: number,
  isBound: boolean,
  maxBoundMs: number,
): number {
  if (expiresAtMs === undefined) return nowMs + MAX_SESSION_MS;
  return Math.min(expiresAtMs, nowMs + (isBound ? maxBoundMs : MAX_SESSION_MS));
}

/**
 * When no gateway accepts the message any longer, so that its nonce may be forgotten. The clocks of the
 * gateway and of the log may each differ by the permitted lead, hence twice that.
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
