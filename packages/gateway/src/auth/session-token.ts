/**
 * Bearer tokens: 256 random bits in base64url, known to the client alone.
 *
 * Log and engine hold only the SHA-256, so neither a copy of the disk nor a dump of the memory
 * signs anyone in. A token is found by that hash: how long a lookup takes tells about the hash of a
 * guess, from which nothing about a real token follows.
 */

import { hash, randomBytes } from "node:crypto";

const TOKEN_BYTES = 32;
const TOKEN_CHARACTERS = Math.ceil((TOKEN_BYTES * 4) / 3);

export interface NewToken {
  readonly token: string;
  /** Lower-case hex. */
  readonly tokenHash: string;
}

/** A token as a client sent it. Its hash is computed once, however many look-ups need it. */
export class BearerToken {
  private hashed: string | undefined;

  constructor(readonly text: string) {}

  get hash(): string {
    this.hashed ??= tokenHashOf(this.text);
    return this.hashed;
  }
}

export function newToken(): NewToken {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  return { token, tokenHash: tokenHashOf(token) };
}

/** Of a text longer than a token only so much is hashed that it stays longer than any token. */
export function tokenHashOf(token: string): string {
  return hash("sha256", token.slice(0, TOKEN_CHARACTERS + 1), "hex");
}
