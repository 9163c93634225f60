/** The live session of a token, and the key that its orders are signed with. */

import { ApiError } from "@perpgate/protocol/core";
import { LRUCache } from "lru-cache";
import { type SessionKey, sessionKeyOfRaw } from "../auth/session-key.js";
import { sessionOfToken } from "../auth/session-token.js";
import type { Caller } from "../request.js";
import type { LiveSession, VenueLink } from "./venue-link.js";

const MAX_CACHED_KEYS = 50_000;

export class SessionGuard {
  /** By fingerprint. Keys in the log were checked when they were added to it. */
  private readonly keys = new LRUCache<string, SessionKey>({
    // `max` would reserve room for all of them.
    maxSize: MAX_CACHED_KEYS,
    sizeCalculation: () => 1,
  });

  constructor(private readonly link: VenueLink) {}

  /** @throws {ApiError} `invalid_token` */
  sessionOf({ bearerToken }: Caller): LiveSession {
    const session = sessionOfToken(bearerToken, (number) => this.link.views.session(number));
    if (session === undefined) throw new ApiError("invalid_token", {});
    return session;
  }

  /** The session as it is now, perhaps with another key. @throws {ApiError} `invalid_token` */
  current({ number }: LiveSession): LiveSession {
    const session = this.link.views.session(number);
    if (session === undefined) throw new ApiError("invalid_token", {});
    return session;
  }

  /** The session's current key. */
  keyOf(session: LiveSession): SessionKey {
    const cached = this.keys.get(session.key);
    if (cached !== undefined) return cached;
    const row = this.link.views.sessionKey(session.number);
    if (row === undefined) throw new Error(`session ${session.number} has no key in the log`);
    const key = sessionKeyOfRaw(row.publicKey);
    this.keys.set(key.fingerprint, key);
    return key;
  }
}
