/** Signatures over request bodies: decodes the `X-Service-Sig` header and checks it. */

import { ApiError, compactSignature, decodeSignature, hexFromBytes } from "@perpgate/protocol/core";
import type { SessionPublicKey } from "./session-key.js";
import { digestOf, type SignatureCheck } from "./signature-check.js";

/** @throws {ApiError} `signature_required` without a header, `invalid_signature` for a wrong format */
export function readSignature(
  header: string | undefined,
  key: SessionPublicKey,
  body: Uint8Array,
): Uint8Array {
  if (header === undefined || header === "") {
    throw new ApiError("signature_required", {}, { field: "X-Service-Sig" });
  }
  const decoded = plainSignature(header) ?? decodeSignature(header);
  const compact = decoded === undefined ? undefined : compactSignature(key.kind, decoded);
  if (compact === undefined) {
    throw invalidSignature(key, body, "it is no signature of this kind, in hex or base64");
  }
  return compact;
}

/** Characters of 64 bytes in base64. */
const PLAIN_CHARACTERS = 88;

/** One in base64, as most are, in a third of the time that looking for the other forms takes. */
function plainSignature(header: string): Uint8Array | undefined {
  if (header.length !== PLAIN_CHARACTERS) return undefined;
  const bytes = Buffer.from(header, "base64");
  // Node reads other text, too: as far as it can.
  return bytes.toString("base64") === header ? bytes : undefined;
}

/** @throws {ApiError} `invalid_signature` if the signature of 64 bytes does not verify */
export function checkSignature(
  signatures: SignatureCheck,
  key: SessionPublicKey,
  body: Uint8Array,
  signature: Uint8Array,
): void {
  if (signatures.isValid(key, body, signature)) return;
  throw invalidSignature(key, body, "it does not verify");
}

export function isFailedSignature(error: unknown): boolean {
  return error instanceof ApiError && error.code === "invalid_signature";
}

/** Carries what a client needs to find its mistake: the computed digest and the expected key. */
function invalidSignature(key: SessionPublicKey, body: Uint8Array, problem: string): ApiError {
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
