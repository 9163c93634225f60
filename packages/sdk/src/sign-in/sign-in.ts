/**
 * Signing in: a nonce, a message that binds the session key, the wallet's signature, a token.
 *
 * A sign-in whose answer was lost cannot be repeated, since its nonce is spent and its token was
 * shown to nobody. It is then begun anew, once, with a fresh nonce and signature; the lost session
 * expires by itself.
 */

import { SessionToken } from "@perpgate/protocol";
import { PerpgateError } from "../errors.js";
import type { HttpClient } from "../http/http-client.js";
import type { CallOptions } from "../http/retry.js";
import type { SessionKey } from "../session-key/session-key.js";
import { type SessionCaps, siweText } from "./siwe-message.js";
import { chainIdOf, type MessageSigner, type SignerChoice, signerOf } from "./wallet.js";

export interface SignInFields extends CallOptions {
  /** The host that the wallet shows; that of the page, or of the gateway. */
  readonly domain?: string;
  readonly uri?: string;
  readonly chainId?: number;
  /** One line that the wallet shows. */
  readonly statement?: string;
  readonly caps?: SessionCaps;
  /** How long the session lives; a day unless told otherwise, and at most. */
  readonly expiresInMs?: number;
}

export interface SignedIn {
  readonly address: string;
  readonly token: string;
  readonly expiresAt: number;
}

interface SignInServices {
  readonly http: HttpClient;
  nonce(options: CallOptions): Promise<{ readonly nonce: string }>;
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
    if (!isLost) throw explained(error);
    return submit(services, signer, chainId, fields, key);
  }
}

async function submit(
  { http, nonce: newNonce }: SignInServices,
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
  const issuedAt = new Date();
  const message = siweText({
    ...placeOf(fields, http.settings.url),
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
  const body = JSON.stringify({ message, signature, sessionKey: key.publicKey });
  const { token, expiresAt } = await http.ask({
    method: "POST",
    path: "/v1/auth/siwe",
    body,
    answer: SessionToken,
    lane: "sign-ins",
    options,
  });
  return { address: signer.address, token, expiresAt };
}

/** Domain and URI must agree: those of the page in a browser, of the gateway elsewhere. */
function placeOf(
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

/** Says by how much the clocks differ, which the bare code leaves to be guessed. */
function explained(error: unknown): unknown {
  if (!(error instanceof PerpgateError) || !CLOCK_PROBLEMS.has(error.code)) return error;
  const { issuedAt, serverTime } = error.details ?? {};
  if (typeof issuedAt !== "number" || typeof serverTime !== "number") return error;
  const seconds = Math.round((issuedAt - serverTime) / 1_000);
  const which = seconds > 0 ? "ahead of" : "behind";
  error.message += ` This device's clock is ${Math.abs(seconds)} s ${which} the server's.`;
  return error;
}
