/**
 * A saved session. `SavedSession` is plain JSON with the secret of the session key: keep it like a
 * password. `StoredSession` has the platform's handle of the secret instead, which IndexedDB can store
 * and no script can read.
 */

import type { SessionKeyKind } from "@perpgate/protocol";
import { Type } from "typebox";
import { hasShape } from "./http/answer-shape.js";
import { type SessionKey, sessionKeyFromSecret } from "./session-key/session-key.js";
import { keyFromHandle } from "./session-key/web-crypto-key.js";

interface SavedFields {
  readonly version: 1;
  readonly address: string;
  readonly token: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** The highest nonce that was used. */
  readonly lastNonce: number;
  /** The highest nonce that was used before the last renewal, if there was one. */
  readonly earlierNonce?: number;
}

export interface SavedSession extends SavedFields {
  readonly sessionKey: {
    readonly kind: SessionKeyKind;
    readonly publicKey: string;
    /** 32 bytes of hex. */
    readonly secret: string;
  };
}

export interface StoredSession extends SavedFields {
  readonly sessionKey: {
    readonly kind: SessionKeyKind;
    readonly publicKey: string;
    readonly handle: object;
  };
}

const SavedShape = Type.Object({
  version: Type.Integer(),
  address: Type.String(),
  token: Type.String(),
  expiresAt: Type.Integer(),
  lastNonce: Type.Integer(),
  earlierNonce: Type.Optional(Type.Integer()),
  sessionKey: Type.Object({ kind: Type.String(), publicKey: Type.String() }),
});

/** The key of a saved session. @throws TypeError if this is not a saved session. */
export function restoredKey(saved: SavedSession | StoredSession): SessionKey {
  if (!hasShape(SavedShape, saved) || saved.version !== 1) {
    throw new TypeError("not a session that session.save() made");
  }
  const { sessionKey } = saved;
  if ("handle" in sessionKey) return keyFromHandle(sessionKey.handle, sessionKey.publicKey);
  const key = sessionKeyFromSecret(sessionKey.kind, sessionKey.secret);
  if (key.publicKey !== sessionKey.publicKey) {
    throw new TypeError("the saved secret is not that of the saved public key");
  }
  return key;
}
