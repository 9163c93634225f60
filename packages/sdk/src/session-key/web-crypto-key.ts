/** Ed25519 keys of the platform's WebCrypto, if it supports them; an insecure page has no WebCrypto. */

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesFromHex, hexFromBytes } from "@perpgate/protocol/core";
import type { SessionKey } from "./secret-keys.js";

const ED25519 = { name: "Ed25519" };

/** A new key; undefined if the platform does not support it. */
export async function newWebCryptoKey(isSaveable: boolean): Promise<SessionKey | undefined> {
  const subtle = platformSubtle();
  if (subtle === undefined) return undefined;
  return unlessUnsupported(async () => {
    const pair = await subtle.generateKey(ED25519, isSaveable, ["sign", "verify"]);
    if (!("privateKey" in pair)) return undefined;
    const publicKey = hexFromBytes(new Uint8Array(await subtle.exportKey("raw", pair.publicKey)));
    const key = handleKey(subtle, pair.privateKey, publicKey);
    if (!isSaveable) return key;
    const { d = "" } = await subtle.exportKey("jwk", pair.privateKey);
    return { ...key, secret: hexOfBase64Url(d) };
  });
}

/** The same key, signing through the platform once the secret is imported, if that is supported. */
export function importedKey(key: SessionKey, secret: string): SessionKey {
  const imported = importSecret(secret, key.publicKey);
  return { ...key, sign: async (bytes) => ((await imported) ?? key).sign(bytes) };
}

async function importSecret(secret: string, publicKey: string): Promise<SessionKey | undefined> {
  const subtle = platformSubtle();
  if (subtle === undefined) return undefined;
  const jwk = { kty: "OKP", crv: "Ed25519", d: base64Url(secret), x: base64Url(publicKey) };
  return unlessUnsupported(async () => {
    const privateKey = await subtle.importKey("jwk", jwk, ED25519, false, ["sign"]);
    return handleKey(subtle, privateKey, publicKey);
  });
}

/** The key of a stored handle. */
export function keyFromHandle(handle: object, publicKey: string): SessionKey {
  const subtle = platformSubtle();
  if (subtle === undefined || !(handle instanceof CryptoKey)) {
    throw new TypeError("the handle is not a key of this platform");
  }
  return handleKey(subtle, handle, publicKey);
}

function handleKey(subtle: SubtleCrypto, handle: CryptoKey, publicKey: string): SessionKey {
  return {
    kind: "ed25519",
    publicKey,
    sign: async (bytes) => {
      const digest = Uint8Array.from(sha256(bytes));
      return new Uint8Array(await subtle.sign(ED25519, handle, digest));
    },
    handle,
  };
}

/** A page that was not loaded securely has no WebCrypto, contrary to the types. */
function platformSubtle(): SubtleCrypto | undefined {
  const { crypto }: { readonly crypto?: Partial<Crypto> } = globalThis;
  return crypto?.subtle;
}

/** Platforms reject an unknown algorithm with different errors, so any failure counts as unsupported. */
async function unlessUnsupported<T>(make: () => Promise<T>): Promise<T | undefined> {
  try {
    return await make();
  } catch {
    return undefined;
  }
}

function base64Url(hex: string): string {
  const text = String.fromCharCode(...(bytesFromHex(hex) ?? []));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function hexOfBase64Url(text: string): string {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return hexFromBytes(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
}
