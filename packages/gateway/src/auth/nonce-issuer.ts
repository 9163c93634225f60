/**
 * Stateless sign-in nonces: random bytes, the expiry and an HMAC over both, in hex, which EIP-4361
 * allows. Any gateway with the same key recognises a nonce without having stored it. Whether it was used
 * before is decided by the venue's log.
 */

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Nonce } from "@perpgate/protocol";

const RANDOM_BYTES = 16;
const EXPIRY_HEX_DIGITS = 12;
const TAG_BYTES = 16;
const BODY_HEX_DIGITS = 2 * RANDOM_BYTES + EXPIRY_HEX_DIGITS;
const NONCE = new RegExp(`^[0-9a-f]{${BODY_HEX_DIGITS + 2 * TAG_BYTES}}$`);

/** Equal to the maximum age of a message. */
export const NONCE_LIFETIME_MS = 600_000;
export const MIN_NONCE_KEY_BYTES = 32;

export class NonceIssuer {
  constructor(
    private readonly key: Uint8Array,
    private readonly random: (bytes: number) => Uint8Array = randomBytes,
  ) {
    if (key.length < MIN_NONCE_KEY_BYTES) {
      throw new RangeError(`a nonce key needs ${MIN_NONCE_KEY_BYTES} bytes, got ${key.length}`);
    }
  }

  issue(nowMs: number): Nonce {
    const expiresAt = nowMs + NONCE_LIFETIME_MS;
    const expiry = expiresAt.toString(16).padStart(EXPIRY_HEX_DIGITS, "0");
    const body = Buffer.from(this.random(RANDOM_BYTES)).toString("hex") + expiry;
    return { nonce: body + this.tag(body).toString("hex"), expiresAt };
  }

  /** Whether a gateway with this key issued the nonce and it has not expired. */
  recognises(nonce: string, nowMs: number): boolean {
    if (!NONCE.test(nonce)) return false;
    const body = nonce.slice(0, BODY_HEX_DIGITS);
    const tag = Buffer.from(nonce.slice(BODY_HEX_DIGITS), "hex");
    if (!timingSafeEqual(tag, this.tag(body))) return false;
    return Number.parseInt(body.slice(2 * RANDOM_BYTES), 16) > nowMs;
  }

  private tag(body: string): Buffer {
    return createHmac("sha256", this.key).update(body).digest().subarray(0, TAG_BYTES);
  }
}
