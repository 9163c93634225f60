/** Verifies signatures in libuv's thread pool, one job per signature. */

import { isSignedBy } from "@perpgate/venue";
import type { SignatureVerifier } from "./signature-verifier.js";

export const poolVerifier: SignatureVerifier = {
  verify({ kind, keyObject: object }, body, signature, verdict) {
    isSignedBy({ kind, object }, body, signature).then(
      (isValid) => verdict(null, isValid),
      (error: Error) => verdict(error, false),
    );
  },
};
