/**
 * Verifies signatures in libuv's thread pool, one job per signature.
 *
 * `verify` of the log has code of its own for the same: a fault here shows there.
 */

import { hash, verify } from "node:crypto";
import { hasSmallOrderR } from "@perpgate/protocol/core";
import type { SignatureVerifier } from "./signature-verifier.js";

export const poolVerifier: SignatureVerifier = {
  verify({ kind, keyObject: key }, body, signature, verdict) {
    if (kind === "secp256k1") {
      verify("sha256", body, { key, dsaEncoding: "ieee-p1363" }, signature, verdict);
      return;
    }
    // libsodium, which checks orders on some machines, refuses these.
    if (hasSmallOrderR(signature)) {
      queueMicrotask(() => verdict(null, false));
      return;
    }
    verify(null, hash("sha256", body, "buffer"), key, signature, (error, isValid) => {
      if (error !== null || isValid) verdict(error, isValid);
      else verify(null, body, key, signature, verdict);
    });
  },
};
