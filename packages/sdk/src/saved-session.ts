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

interface SavedKey {
  readonly kind: SessionKeyKind;
  readonly publicKey: string;
  /** 32 bytes of hex. */
  readonly secret: string;
}

interface StoredKey {
  readonly kind: SessionKeyKind;
  readonly publicKey: string;
  readonly handle: object;
}

export interface SavedSession extends SavedFields {
  readonly sessionKey: SavedKey;
  /** The new key of a rotation whose outcome is unknown. */
  readonly nextSessionKey?: SavedKey;
}

export interface StoredSession extends SavedFields {
  readonly sessionKey: StoredKey;
  /** The new key of a rotation whose outcome is unknown. */
  readonly nextSessionKey?: StoredKey;
}

const KeyShape = Type.Object({ kind: Type.String(), publicKey: Type.String() });

const SavedShape = Type.Object({
  version: Type.Integer(),
  address: Type.String(),
  token: Type.String(),
  expiresAt: Type.Integer(),
  lastNonce: Type.Integer(),
  earlierNonce: Type.Optional(Type.Integer()),
  sessionKey: KeyShape,
  nextSessionKey: Type.Optional(KeyShape),
});

/** @throws TypeError if the key cannot be read. */
export function savedKey({ kind, publicKey, secret }: SessionKey): SavedKey {
  if (secret === undefined) {
    throw new TypeError("this session key cannot be read; sign in with saveable: true to save it");
  }
  return { kind, publicKey, secret };
}

/** @throws TypeError if the key has no handle. */
export function storedKey({ kind, publicKey, handle }: SessionKey): StoredKey {
  if (handle === undefined) throw new TypeError("this session key has no handle; use save()");
  return { kind, publicKey, handle };
}

/** The keys of a saved session. @throws TypeError if this is not a saved session. */
export function restoredKeys(saved: SavedSession | StoredSession): {
  readonly key: SessionKey;
  readonly nextKey: SessionKey | undefined;
} {
  if (!hasShape(SavedShape, saved) || saved.version !== 1) {
    throw new TypeError("not a session that session.save() made");
  }
  const { sessionKey, nextSessionKey } = saved;
  return {
    key: restoredKey(sessionKey),
    nextKey: nextSessionKey === undefined ? undefined : restoredKey(nextSessionKey),
  };
}

function restoredKey(sessionKey: SavedKey | StoredKey): SessionKey {
  if ("handle" in sessionKey) return keyFromHandle(sessionKey.handle, sessionKey.publicKey);
  const key = sessionKeyFromSecret(sessionKey.kind, sessionKey.secret);
  if (key.publicKey !== sessionKey.publicKey) {
    throw new TypeError("the saved secret is not that of the saved public key");
  }
  return key;
}
