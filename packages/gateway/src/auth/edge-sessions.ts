/**
 * Sessions as this edge knows them: asked of the core on the first use of a token, and kept up by its
 * notices, until room is needed for others.
 *
 * A session here may have ended or been tied to another key a moment ago. The core looks a session up
 * again by its number, and refuses what was judged with an older key.
 */

import type { CoreAccess } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import { LRUCache } from "lru-cache";
import { type SessionPublicKey, sessionKeyOfRaw } from "./session-key.js";
import type { BearerToken } from "./session-token.js";

export interface EdgeSession {
  readonly number: number;
  readonly account: number;
  /** Lower-case hex. */
  readonly tokenHash: string;
  readonly key: SessionPublicKey;
  /** Whether the wallet's message bound the session's first key. */
  readonly isKeyBound: boolean;
}

interface SessionFields extends Omit<EdgeSession, "number" | "key"> {
  readonly publicKey: Uint8Array;
}

const MAX_KEPT = 100_000;

export class EdgeSessions {
  private readonly kept = new LRUCache<number, EdgeSession>({
    // `max` would reserve room for all of them.
    maxSize: MAX_KEPT,
    sizeCalculation: () => 1,
  });
  private readonly loading = new Map<number, Promise<EdgeSession | undefined>>();
  private readonly endings = new Set<(session: number) => void>();

  constructor(private readonly link: CoreAccess) {
    link.on({
      sessionChanged: ({ session, publicKey }) => {
        const known = this.kept.get(session);
        if (known === undefined) return;
        this.kept.set(session, { ...known, key: sessionKeyOfRaw(publicKey) });
      },
      sessionEnded: ({ session }) => {
        this.kept.delete(session);
        for (const onEnded of this.endings) onEnded(session);
      },
    });
    link.onLead({
      // Until then they serve requests that wait for the next core, which checks them itself.
      lost: () => undefined,
      // What was changed or ended meanwhile is not known.
      begun: () => this.kept.clear(),
    });
  }

  /** Called with the number of every session of the venue that ends. */
  onEnded(handler: (session: number) => void): void {
    this.endings.add(handler);
  }

  /** Whether the session that the token names must be asked for first. */
  isUnknown({ session }: BearerToken): boolean {
    return session !== 0 && !this.kept.has(session);
  }

  /** The session of a token that is not unknown. @throws ApiError `invalid_token` */
  known(token: BearerToken): EdgeSession {
    return matching(token, this.kept.get(token.session));
  }

  /** The session of any token. @throws ApiError `invalid_token`, or rejects with it */
  of(token: BearerToken): EdgeSession | Promise<EdgeSession> {
    if (!this.isUnknown(token)) return this.known(token);
    return this.ask(token.session).then((session) => matching(token, session));
  }

  /** Asks for the session of an unknown token, if there is one. */
  async learn({ session }: BearerToken): Promise<void> {
    await this.ask(session);
  }

  /** As the core knows it now. */
  refreshed({ number }: EdgeSession): Promise<EdgeSession | undefined> {
    this.drop(number);
    return this.ask(number);
  }

  add(number: number, { publicKey, ...fields }: SessionFields): EdgeSession {
    const session = { ...fields, number, key: sessionKeyOfRaw(publicKey) };
    this.kept.set(number, session);
    return session;
  }

  /** The core has refused it as ended. */
  drop(number: number): void {
    this.kept.delete(number);
  }

  private ask(number: number): Promise<EdgeSession | undefined> {
    const pending = this.loading.get(number);
    if (pending !== undefined) return pending;
    const asked = new Promise<EdgeSession | undefined>((resolve, reject) => {
      this.link.ask(
        "getSession",
        { session: number },
        {
          // Kept before a later notice about it arrives.
          answered: ({ found }) => {
            resolve(found === undefined ? undefined : this.add(number, found));
          },
          refused: reject,
        },
      );
    }).finally(() => this.loading.delete(number));
    this.loading.set(number, asked);
    return asked;
  }
}

function matching(token: BearerToken, session: EdgeSession | undefined): EdgeSession {
  if (session?.number === token.session && token.matches(session.tokenHash)) return session;
  throw new ApiError("invalid_token", {});
}
