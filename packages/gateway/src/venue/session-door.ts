/**
 * The door of every operation with a token: the session it opens, and the key that signs for it.
 *
 * Keys are kept by fingerprint once they have been judged, since judging one costs more than
 * checking a signature with it. After a restart they come back from the log, as it recorded them.
 */

import { ApiError } from "@perpgate/protocol";
import { type SessionKey, sessionKeyOfRaw } from "../auth/session-key.js";
import { bindsKey } from "../auth/session-resource.js";
import type { Caller } from "../request.js";
import type { LiveSession, VenueLink } from "./venue-link.js";

/** Beyond it all are dropped and read back as they are needed. */
const KEPT_KEYS = 50_000;
const KEPT_SESSIONS = 50_000;

export class SessionDoor {
  private readonly keys = new Map<string, SessionKey>();
  /** By session number: whether the wallet's message bound the first key. It never changes. */
  private readonly keyBound = new Map<number, boolean>();

  constructor(private readonly link: VenueLink) {}

  /** The live session of the token, or `invalid_token`. */
  enter({ bearerToken }: Caller): LiveSession {
    const session = this.link.views.session(bearerToken.hash);
    if (session === undefined) throw new ApiError("invalid_token", {});
    return session;
  }

  /** The key in force. */
  keyOf(session: LiveSession): SessionKey {
    const known = this.keys.get(session.key);
    if (known !== undefined) return known;
    const row = this.link.views.sessionKey(session.number);
    if (row === undefined) throw new Error(`session ${session.number} has no key in the log`);
    const key = sessionKeyOfRaw(row.publicKey);
    this.keep(key);
    return key;
  }

  keep(key: SessionKey): void {
    if (this.keys.size >= KEPT_KEYS) this.keys.clear();
    this.keys.set(key.fingerprint, key);
  }

  /** Whether the wallet's message bound the session's key; read from the log once a session. */
  isKeyBound({ number }: LiveSession): boolean {
    const known = this.keyBound.get(number);
    if (known !== undefined) return known;
    const isBound = bindsKey(this.link.views.sessionKey(number)?.message.toString("utf8") ?? "");
    if (this.keyBound.size >= KEPT_SESSIONS) this.keyBound.clear();
    this.keyBound.set(number, isBound);
    return isBound;
  }
}
