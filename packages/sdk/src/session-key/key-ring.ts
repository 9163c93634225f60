/**
 * The session's current key, even while a rotation is unconfirmed.
 *
 * A rotation whose response was lost leaves two candidates. The venue's key is read before the next
 * signature, so no order is signed with the wrong one. A gateway that was stalled may still execute the
 * rotation after that: the new key is kept, and the venue's key is read again when a signature is refused.
 */

import { ConnectionError, PerpgateError } from "../errors.js";
import type { SessionKey } from "./session-key.js";

/** Codes of a signature, or of a repeated rotation, if a rotation was executed before. */
const ALREADY_ROTATED: ReadonlySet<string> = new Set(["invalid_signature", "session_key_rotated"]);

export class SessionKeyRing {
  private settling: Promise<void> | undefined;
  /** New keys that the venue may have by now. Once it has one, it cannot have the others. */
  private candidates: readonly SessionKey[];
  /** Whether the venue's key must be read before the next signature. */
  private isUnconfirmed: boolean;

  constructor(
    private key: SessionKey,
    /** The public key that the venue has for the session. */
    private readonly keyAtVenue: () => Promise<string>,
    candidate?: SessionKey,
  ) {
    this.candidates = candidate === undefined ? [] : [candidate];
    this.isUnconfirmed = candidate !== undefined;
  }

  /** The last key that was confirmed. */
  get known(): SessionKey {
    return this.key;
  }

  /** The new key of the last rotation whose outcome is unknown. */
  get candidate(): SessionKey | undefined {
    return this.candidates.at(-1);
  }

  /** The current key; reads it from the venue if a rotation is unconfirmed. */
  async current(): Promise<SessionKey> {
    while (this.isUnconfirmed) {
      this.settling ??= this.settle().finally(() => {
        this.settling = undefined;
      });
      await this.settling;
    }
    return this.key;
  }

  /**
   * Runs with the current key. If a rotation of unknown outcome has replaced it meanwhile, runs once more
   * with the new one, and passes the refusal.
   */
  async use<T>(run: (key: SessionKey, refusal?: PerpgateError) => Promise<T>): Promise<T> {
    const key = await this.current();
    try {
      return await run(key);
    } catch (error) {
      if (!(error instanceof PerpgateError) || !ALREADY_ROTATED.has(error.code)) throw error;
      if (this.key === key && this.candidates.length > 0) {
        this.isUnconfirmed = true;
        await this.current().catch(() => undefined);
      }
      if (this.key === key) throw error;
      return run(this.key, error);
    }
  }

  /** Runs a rotation to `next`; if its outcome is unknown, reads the key from the venue. */
  async replace(next: SessionKey, rotate: () => Promise<unknown>): Promise<void> {
    try {
      await rotate();
      this.confirm(next);
    } catch (error) {
      if (!mayHaveBeenExecuted(error)) throw error;
      this.candidates = [...this.candidates, next];
      this.isUnconfirmed = true;
      if (!isOfVenue(error)) throw error;
      const now = await this.current().catch(() => undefined);
      if (now !== next) throw error;
    }
  }

  /** Keys that another holder of the session rotates to: the venue's is read before the next signature. */
  learn(keys: readonly SessionKey[]): void {
    const known = new Set([this.key, ...this.candidates].map(({ publicKey }) => publicKey));
    const added = keys.filter(({ publicKey }) => !known.has(publicKey));
    this.candidates = [...this.candidates, ...added];
    this.isUnconfirmed ||= this.candidates.length > 0;
  }

  private async settle(): Promise<void> {
    const publicKey = await this.keyAtVenue();
    const found = this.candidates.find((candidate) => candidate.publicKey === publicKey);
    if (found !== undefined) this.confirm(found);
    this.isUnconfirmed = false;
  }

  private confirm(key: SessionKey): void {
    this.key = key;
    this.candidates = [];
  }
}

/** Any other error is the program's own, such as the reason of its signal. */
function isOfVenue(error: unknown): boolean {
  return error instanceof ConnectionError || error instanceof PerpgateError;
}

function mayHaveBeenExecuted(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.outcome === "unknown";
  if (!(error instanceof PerpgateError)) return true;
  if (error.outcome === "unknown") return true;
  return error.attempts > 1 && ALREADY_ROTATED.has(error.code);
}
