/**
 * The session key: created here, bound to the session by the wallet's signature. It signs all orders;
 * the wallet signs only once.
 *
 * Ed25519 uses the platform's WebCrypto if available: it is faster, does not block, and can keep a
 * secret that this program cannot read. Otherwise, and for secp256k1, which WebCrypto lacks, the secret
 * is bytes in memory.
 */

import type { SessionKeyKind } from "@perpgate/protocol";
import { newEd25519Key, newSecp256k1Key, type SessionKey, secretKeyOf } from "./secret-keys.js";
import { importedKey, newWebCryptoKey } from "./web-crypto-key.js";

export type { SessionKey };

export interface SessionKeyOptions {
  readonly kind?: SessionKeyKind;
  /** Whether the secret can be read, which `session.save()` needs. */
  readonly saveable?: boolean;
}

/**
 * A new session key, for a program that needs it before `signIn`, which creates one otherwise.
 *
 * @example
 * const sessionKey = await createSessionKey({ kind: "ed25519", saveable: true });
 * const session = await client.signIn({ account, sessionKey });
 */
export async function createSessionKey({
  kind = "ed25519",
  saveable = false,
}: SessionKeyOptions = {}): Promise<SessionKey> {
  if (kind === "secp256k1") return newSecp256k1Key();
  return (await newWebCryptoKey(saveable)) ?? newEd25519Key();
}

/**
 * The session key of a secret that was saved: 32 bytes of hex.
 *
 * @example
 * const made = await createSessionKey({ saveable: true });
 * const again = sessionKeyFromSecret(made.kind, made.secret ?? "");
 * console.log(again.publicKey === made.publicKey);
 */
export function sessionKeyFromSecret(kind: SessionKeyKind, secret: string): SessionKey {
  const key = secretKeyOf(kind, secret);
  return kind === "ed25519" ? importedKey(key, secret) : key;
}
