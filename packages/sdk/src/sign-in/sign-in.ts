/**
 * Signing in: a nonce, a message that binds the session key, the wallet's signature, a token.
 *
 * A sign-in whose response was lost cannot be repeated: its nonce is used and its token was received by
 * nobody. It is restarted once with a new nonce and signature; the lost session expires.
 */

import { signIn as signInOperation } from "@perpgate/protocol/operations";
import { PerpgateError } from "../errors.js";
import type { HttpClient } from "../http/http-client.js";
import type { ClientClock } from "../orders/nonces.js";
import type { CallOptions } from "../retry.js";
import type { SessionKey } from "../session-key/session-key.js";
import { type SessionCaps, siweText } from "./siwe-message.js";
import { chainIdOf, type MessageSigner, type SignerChoice, signerOf } from "./wallet.js";

export interface SignInFields extends CallOptions {
  /** The host that the wallet shows. Default: that of the page, or of the gateway. */
  readonly domain?: string;
  readonly uri?: string;
  readonly chainId?: number;
  /** One line that the wallet shows. */
  readonly statement?: string;
  readonly caps?: SessionCaps;
  /** Milliseconds that the session lives. Default: a day; at most what the venue allows, 30 days unless set otherwise. */
  readonly expiresInMs?: number;
}

interface SignedIn {
  readonly address: string;
  readonly token: string;
  readonly expiresAt: number;
}

interface SignInServices {
  readonly http: HttpClient;
  nonce(options: CallOptions): Promise<{ readonly nonce: string }>;
  readonly clock?: ClientClock | undefined;
}

const STATEMENT = "Sign in to trade on Perpgate with a session key of this device.";
const CLOCK_PROBLEMS: ReadonlySet<string> = new Set([
  "siwe_message_too_old",
  "siwe_message_from_future",
]);

export async function signIn(
  services: SignInServices,
  choice: SignerChoice,
  fields: SignInFields,
  key: SessionKey,
): Promise<SignedIn> {
  const signer = await signerOf(choice);
  const chainId = fields.chainId ?? (await chainIdOf(choice));
  try {
    return await submit(services, signer, chainId, fields, key);
  } catch (error) {
    const isLost =
      error instanceof PerpgateError && error.code === "siwe_nonce_used" && error.attempts > 1;
    if (!isLost) throw withClockDifference(error);
    return submit(services, signer, chainId, fields, key);
  }
}

async function submit(
  { http, nonce: newNonce, clock }: SignInServices,
  signer: MessageSigner,
  chainId: number,
  fields: SignInFields,
  key: SessionKey,
): Promise<SignedIn> {
  const { timeoutMs, retries, budgetMs, signal, caps, expiresInMs } = fields;
  const options = {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(retries === undefined ? {} : { retries }),
    ...(budgetMs === undefined ? {} : { budgetMs }),
    ...(signal === undefined ? {} : { signal }),
  };
  const { nonce } = await newNonce(options);
  const issuedAt = new Date(clock?.nowMs() ?? Date.now());
  const message = siweText({
    ...originOf(fields, http.settings.gateways.url),
    address: signer.address,
    statement: fields.statement ?? STATEMENT,
    chainId,
    nonce,
    issuedAt,
    expiresAt: expiresInMs === undefined ? undefined : new Date(issuedAt.getTime() + expiresInMs),
    sessionKey: key.publicKey,
    caps,
  });
  const signature = await signer.signMessage({ message });
  const body = { message, signature, sessionKey: key.publicKey };
  const { token, expiresAt } = await http.call(signInOperation, { body, options });
  return { address: signer.address, token, expiresAt };
}

/** Domain and URI must match: in a browser those of the page, elsewhere those of the gateway. */
function originOf(
  { domain, uri }: SignInFields,
  gatewayUrl: string,
): { readonly domain: string; readonly uri: string } {
  if (uri !== undefined) return { uri, domain: domain ?? new URL(uri).host };
  if (domain !== undefined) return { domain, uri: `https://${domain}` };
  const { location }: { readonly location?: Partial<Location> } = globalThis;
  const origin = location?.origin?.startsWith("http") === true ? location.origin : undefined;
  const url = new URL(origin ?? gatewayUrl);
  return { domain: url.host, uri: url.origin };
}

/** Adds by how much the clocks differ. */
function withClockDifference(error: unknown): unknown {
  if (!(error instanceof PerpgateError) || !CLOCK_PROBLEMS.has(error.code)) return error;
  const { issuedAt, serverTime } = error.details ?? {};
  if (typeof issuedAt !== "number" || typeof serverTime !== "number") return error;
  const seconds = Math.round((issuedAt - serverTime) / 1_000);
  const which = seconds > 0 ? "ahead of" : "behind";
  error.message += ` This device's clock is ${Math.abs(seconds)} s ${which} the server's.`;
  return error;
}
