/**
 * Verifies signatures in libuv's thread pool, one job per signature. An Ed25519 signature may cover the
 * digest, as documented, or the body; the digest is checked first.
 */

import { hash, verify } from "node:crypto";
import { hasSmallOrderR } from "./signature-check.js";
import type { SignatureVerifier } from "./signature-verifier.js";

export const poolVerifier: SignatureVerifier = {
  verify({ kind, keyObject }, body, signature, verdict) {
    if (kind === "secp256k1") {
      // OpenSSL hashes the body itself; high and low S are the same signature to it.
      verify("sha256", body, { key: keyObject, dsaEncoding: "ieee-p1363" }, signature, verdict);
      return;
    }
    verify(null, hash("sha256", body, "buffer"), keyObject, signature, (error, isValid) => {
      if (error !== null || (isValid && hasSmallOrderR(signature))) verdict(error, false);
      else if (isValid) verdict(null, true);
      else
        verify(null, body, keyObject, signature, (failure, isBody) => {
          verdict(failure, isBody && !hasSmallOrderR(signature));
        });
    });
  },
};
