/**
 * Signatures over request bodies, checked by the thread pool and not by the thread that answers.
 *
 * In: a session key, the exact bytes of the body, the `X-Service-Sig` header. Out: whether the
 * signature holds. A body has one digest, computed once by the caller: it also names the body where
 * a nonce is repeated. Ed25519 signatures may cover the digest or the body; the digest comes first,
 * being what the documentation tells clients to sign, and the body costs a second check.
 */

import { hash, verify } from "node:crypto";
import { compactSignature, decodeSignature, hexFromBytes, Refusal } from "@perpgate/protocol";
import type { SessionKey } from "./session-key.js";

export type SignatureVerdict = (error: Error | null, isValid: boolean) => void;

/** SHA-256 of the body, which is what most signatures cover. */
export function digestOf(body: Uint8Array): Uint8Array {
  return hash("sha256", body, "buffer");
}

/** Reads the header, or refuses: a signature that cannot be one is told apart from none at all. */
export function readSignature(
  header: string | undefined,
  key: SessionKey,
  digest: Uint8Array,
): Uint8Array {
  if (header === undefined || header === "") {
    throw new Refusal("signature_required", {}, { field: "X-Service-Sig" });
  }
  const decoded = decodeSignature(header);
  const compact = decoded === undefined ? undefined : compactSignature(key.kind, decoded);
  if (compact === undefined) {
    throw invalidSignature(key, digest, "it is no signature of this kind, in hex or base64");
  }
  return compact;
}

/** Checks a signature of 64 bytes; the verdict comes from the thread pool. */
export function verifySignature(
  key: SessionKey,
  body: Uint8Array,
  digest: Uint8Array,
  signature: Uint8Array,
  verdict: SignatureVerdict,
): void {
  if (key.kind === "secp256k1") {
    // OpenSSL hashes the body itself; high and low S are the same signature to it.
    verify("sha256", body, { key: key.keyObject, dsaEncoding: "ieee-p1363" }, signature, verdict);
    return;
  }
  verify(null, digest, key.keyObject, signature, (error, isValid) => {
    if (error !== null || isValid) verdict(error, isValid);
    else verify(null, body, key.keyObject, signature, verdict);
  });
}

/** As `verifySignature`, for callers that would rather wait than be called. */
export function checkSignature(
  key: SessionKey,
  body: Uint8Array,
  digest: Uint8Array,
  signature: Uint8Array,
): Promise<void> {
  return new Promise((resolve, reject) => {
    verifySignature(key, body, digest, signature, (error, isValid) => {
      if (error !== null) reject(error);
      else if (isValid) resolve();
      else reject(invalidSignature(key, digest, "it does not verify"));
    });
  });
}

/** What a client needs to find its mistake: the digest we computed and the key we expected. */
export function invalidSignature(key: SessionKey, digest: Uint8Array, problem: string): Refusal {
  const { kind, fingerprint } = key;
  return new Refusal(
    "invalid_signature",
    { kind, fingerprint },
    {
      field: "X-Service-Sig",
      details: { problem, bodySha256: hexFromBytes(digest), kind, fingerprint },
    },
  );
}
