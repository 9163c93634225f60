/**
 * Bearer tokens: 256 random bits in base64url, a dot, and the log position of the session. Only the
 * client stores one.
 *
 * Log and engine store the SHA-256 of the random part, so neither a copy of the disk nor a dump of the
 * core's memory contains a token; an edge has those of open connections. The position finds the session;
 * then the hashes are compared in constant time, so a guess learns nothing from how long its refusal took.
 */

import { hash, randomBytes, timingSafeEqual } from "node:crypto";

const SECRET_BYTES = 32;
const SECRET_CHARACTERS = Math.ceil((SECRET_BYTES * 4) / 3);
const POSITION = /^[1-9][0-9]{0,15}$/;

interface NewSecret {
  readonly secret: string;
  /** Lower-case hex. */
  readonly tokenHash: string;
}

const SCHEME = "Bearer ";

/** A token as a client sent it. It is hashed and compared once, however many requests and look-ups need it. */
export class BearerToken {
  /** The session that it names; 0 if it is no token. */
  readonly session: number;
  private hashed: Uint8Array | undefined;
  /** The hash that it was found to have. */
  private matched: string | undefined;

  constructor(readonly text: string) {
    const position =
      text.charAt(SECRET_CHARACTERS) === "." ? text.slice(SECRET_CHARACTERS + 1) : "";
    const session = POSITION.test(position) ? Number(position) : 0;
    this.session = Number.isSafeInteger(session) ? session : 0;
  }

  /** Whether its random part has that hash, in lower-case hex. */
  matches(tokenHash: string): boolean {
    if (this.matched === tokenHash) return true;
    this.hashed ??= hash("sha256", this.text.slice(0, SECRET_CHARACTERS), "buffer");
    const expected = Buffer.from(tokenHash, "hex");
    if (expected.length !== this.hashed.length || !timingSafeEqual(expected, this.hashed)) {
      return false;
    }
    this.matched = tokenHash;
    return true;
  }

  /** Whether that header is this token's, which names a session, without more spaces than it needs. */
  isSentAs(authorization: string | undefined): boolean {
    return this.session !== 0 && authorization === SCHEME + this.text;
  }
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** The token of an `Authorization` header; undefined if it has another form. */
export function bearerTokenOf(authorization: string | undefined): BearerToken | undefined {
  const text = BEARER.exec(authorization ?? "")?.[1];
  return text === undefined ? undefined : new BearerToken(text);
}

export function newSecret(random: (bytes: number) => Uint8Array = randomBytes): NewSecret {
  const secret = Buffer.from(random(SECRET_BYTES)).toString("base64url");
  return { secret, tokenHash: hash("sha256", secret, "hex") };
}

export function tokenOf({ secret }: NewSecret, session: number): string {
  return `${secret}.${session}`;
}
