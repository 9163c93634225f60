/**
 * Signatures over request bodies: from the `X-Service-Sig` header to a verdict or a refusal.
 *
 * In: a session key, the exact bytes of the body, the header. The check itself is another thread's
 * work. A refusal tells a client what it needs to find its mistake.
 */

import { hash } from "node:crypto";
import { ApiError, compactSignature, decodeSignature, hexFromBytes } from "@perpgate/protocol";
import type { SessionKey } from "./session-key.js";
import type { SignatureVerifier } from "./verification/signature-verifier.js";

/** SHA-256 of the body: what most signatures cover, and what names a body whose nonce is repeated. */
export function digestOf(body: Uint8Array): Uint8Array {
  return hash("sha256", body, "buffer");
}

/** Reads the header, or refuses: a signature that cannot be one is told apart from none at all. */
export function readSignature(
  header: string | undefined,
  key: SessionKey,
  body: Uint8Array,
): Uint8Array {
  if (header === undefined || header === "") {
    throw new ApiError("signature_required", {}, { field: "X-Service-Sig" });
  }
  const decoded = decodeSignature(header);
  const compact = decoded === undefined ? undefined : compactSignature(key.kind, decoded);
  if (compact === undefined) {
    throw invalidSignature(key, body, "it is no signature of this kind, in hex or base64");
  }
  return compact;
}

/** Resolves if the signature of 64 bytes holds, refuses if not. */
export function checkSignature(
  verifier: SignatureVerifier,
  key: SessionKey,
  body: Uint8Array,
  signature: Uint8Array,
): Promise<void> {
  return new Promise((resolve, reject) => {
    verifier.verify(key, body, signature, (error, isValid) => {
      if (error !== null) reject(error);
      else if (isValid) resolve();
      else reject(doesNotVerify(key, body));
    });
  });
}

export function doesNotVerify(key: SessionKey, body: Uint8Array): ApiError {
  return invalidSignature(key, body, "it does not verify");
}

/** What a client needs to find its mistake: the digest we computed and the key we expected. */
function invalidSignature(key: SessionKey, body: Uint8Array, problem: string): ApiError {
  const { kind, fingerprint } = key;
  return new ApiError(
    "invalid_signature",
    { kind, fingerprint },
    {
      field: "X-Service-Sig",
      details: { problem, bodySha256: hexFromBytes(digestOf(body)), kind, fingerprint },
    },
  );
}
