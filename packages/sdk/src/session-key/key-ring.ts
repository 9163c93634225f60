/**
 * The key in force, also while it is not known which of two that is.
 *
 * A rotation whose answer was lost leaves two candidates. The venue knows; it is asked before the
 * next signature, so that no order is signed by a guess.
 */

import { ConnectionError, PerpgateError } from "../errors.js";
import type { SessionKey } from "./session-key.js";

/** What a repeated rotation is answered by if the first has happened. */
const ALREADY_ROTATED: ReadonlySet<string> = new Set(["invalid_signature", "session_key_rotated"]);

export class SessionKeyRing {
  private candidate: SessionKey | undefined;
  private settling: Promise<void> | undefined;

  constructor(
    private key: SessionKey,
    /** The public key that the venue has for the session. */
    private readonly keyAtVenue: () => Promise<string>,
  ) {}

  /** The last one known to be in force. */
  get known(): SessionKey {
    return this.key;
  }

  /** The one in force; asks the venue if a rotation has left that open. */
  async current(): Promise<SessionKey> {
    while (this.candidate !== undefined) {
      this.settling ??= this.settle(this.candidate).finally(() => {
        this.settling = undefined;
      });
      await this.settling;
    }
    return this.key;
  }

  /** Runs a rotation to `next`, and finds out what became of it if it fails without a clear answer. */
  async replace(next: SessionKey, rotate: () => Promise<unknown>): Promise<void> {
    try {
      await rotate();
      this.key = next;
    } catch (error) {
      if (!mayHaveHappened(error)) throw error;
      this.candidate = next;
      const now = await this.current().catch(() => undefined);
      if (now !== next) throw error;
    }
  }

  private async settle(candidate: SessionKey): Promise<void> {
    const publicKey = await this.keyAtVenue();
    if (publicKey === candidate.publicKey) this.key = candidate;
    this.candidate = undefined;
  }
}

function mayHaveHappened(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.outcome === "unknown";
  if (!(error instanceof PerpgateError)) return false;
  if (error.outcome === "unknown") return true;
  return error.attempts > 1 && ALREADY_ROTATED.has(error.code);
}
