/**
 * Bearer tokens: 256 random bits in base64url, stored by the client only.
 *
 * Log and engine store the SHA-256 of a token, so neither a copy of the disk nor a memory dump contains
 * one. Look-up by hash is safe against timing attacks: its duration depends on the hash of a guess, which
 * reveals nothing about a real token.
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

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** The token of an `Authorization` header; undefined if it has another form. */
export function bearerTokenOf(authorization: string | undefined): BearerToken | undefined {
  const text = BEARER.exec(authorization ?? "")?.[1];
  return text === undefined ? undefined : new BearerToken(text);
}

export function newToken(): NewToken {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  return { token, tokenHash: tokenHashOf(token) };
}

/** Hashes at most one character more than a token has: a longer text matches no token either. */
export function tokenHashOf(token: string): string {
  return hash("sha256", token.slice(0, TOKEN_CHARACTERS + 1), "hex");
}
