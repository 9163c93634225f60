/**
 * The session's current key, even while a rotation is unconfirmed.
 *
 * A rotation whose response was lost leaves two candidates. The venue's key is read before the next
 * signature, so no order is signed with the wrong one.
 */

import { ConnectionError, PerpgateError } from "../errors.js";
import type { SessionKey } from "./session-key.js";

/** Codes of a repeated rotation if the first one was executed. */
const ALREADY_ROTATED: ReadonlySet<string> = new Set(["invalid_signature", "session_key_rotated"]);

export class SessionKeyRing {
  private settling: Promise<void> | undefined;

  constructor(
    private key: SessionKey,
    /** The public key that the venue has for the session. */
    private readonly keyAtVenue: () => Promise<string>,
    private unconfirmed?: SessionKey,
  ) {}

  /** The last key that was confirmed. */
  get known(): SessionKey {
    return this.key;
  }

  /** The new key of a rotation whose outcome is unknown. */
  get candidate(): SessionKey | undefined {
    return this.unconfirmed;
  }

  /** The current key; reads it from the venue if a rotation is unconfirmed. */
  async current(): Promise<SessionKey> {
    while (this.unconfirmed !== undefined) {
      this.settling ??= this.settle(this.unconfirmed).finally(() => {
        this.settling = undefined;
      });
      await this.settling;
    }
    return this.key;
  }

  /** Runs a rotation to `next`; if its outcome is unknown, reads the key from the venue. */
  async replace(next: SessionKey, rotate: () => Promise<unknown>): Promise<void> {
    try {
      await rotate();
      this.key = next;
    } catch (error) {
      if (!mayHaveBeenExecuted(error)) throw error;
      this.unconfirmed = next;
      const now = await this.current().catch(() => undefined);
      if (now !== next) throw error;
    }
  }

  private async settle(candidate: SessionKey): Promise<void> {
    const publicKey = await this.keyAtVenue();
    if (publicKey === candidate.publicKey) this.key = candidate;
    this.unconfirmed = undefined;
  }
}

function mayHaveBeenExecuted(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.outcome === "unknown";
  if (!(error instanceof PerpgateError)) return false;
  if (error.outcome === "unknown") return true;
  return error.attempts > 1 && ALREADY_ROTATED.has(error.code);
}
