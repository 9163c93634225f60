/**
 * Signatures that are checked for real, and whose verdicts wait until a test lets them go: an order
 * then stands between its check and the log for as long as the test wants.
 */

import type { SessionKey } from "../../auth/session-key.js";
import { poolVerifier } from "../../auth/verification/pool-verifier.js";
import type {
  SignatureVerdict,
  SignatureVerifier,
} from "../../auth/verification/signature-verifier.js";

export class HeldSignatures implements SignatureVerifier {
  private readonly held: (() => void)[] = [];
  private isHolding = false;

  /** How many orders wait. */
  get waiting(): number {
    return this.held.length;
  }

  verify(
    key: SessionKey,
    body: Uint8Array,
    signature: Uint8Array,
    verdict: SignatureVerdict,
  ): void {
    poolVerifier.verify(key, body, signature, (error, isValid) => {
      if (this.isHolding) this.held.push(() => verdict(error, isValid));
      else verdict(error, isValid);
    });
  }

  /** From now on verdicts wait. */
  hold(): void {
    this.isHolding = true;
  }

  /** Tells all that wait, and lets the next ones pass. */
  release(): void {
    this.isHolding = false;
    for (const tell of this.held.splice(0)) tell();
  }
}
