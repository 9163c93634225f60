/** Sign-ins, and the connections of their sessions. */

import type { Unsigned } from "./request-terms.js";

export interface OpenSession extends Unsigned {
  readonly kind: "OpenSession";
  readonly stampMs: number;
  /** Lower-case hex, 40 digits. */
  readonly address: string;
  /** Fingerprint of the session key, lower-case hex. */
  readonly key: string;
  /** SHA-256 of the bearer token, lower-case hex. */
  readonly tokenHash: string;
  readonly expiresAtMs: number;
  readonly siweNonce: string;
  /** From then on the sign-in message is too old to be accepted, and its nonce may be forgotten. */
  readonly siweNonceUntilMs: number;
  /** 0: no cap. */
  readonly maxOrderNotionalMicros: number;
  /** 0: no cap. */
  readonly maxNotionalMicros: number;
  /** Empty: every market. */
  readonly markets: readonly number[];
  /** Of the chain on which a contract wallet's signature was checked. Missing: a key signed. */
  readonly contractChainId?: number;
}

export interface RotateSession extends Unsigned {
  readonly kind: "RotateSession";
  readonly stampMs: number;
  readonly session: number;
  /** The key of the session when the gateway accepted the rotation. */
  readonly oldKey: string;
  readonly newKey: string;
}

export interface CloseSession extends Unsigned {
  readonly kind: "CloseSession";
  readonly stampMs: number;
  readonly session: number;
}

/** Sets what happens to a session's orders when its last connection is gone. */
export interface SetSessionOption extends Unsigned {
  readonly kind: "SetSessionOption";
  readonly stampMs: number;
  readonly session: number;
  /** Whether its open orders end with its last connection. */
  readonly cancelOnDisconnect: boolean;
}

/** The session's first connection at the writer of the batch. */
export interface SessionConnected {
  readonly kind: "SessionConnected";
  readonly stampMs: number;
  readonly session: number;
}

/** The session's last connection at the writer of the batch is gone, for any reason. */
export interface SessionDisconnected {
  readonly kind: "SessionDisconnected";
  readonly stampMs: number;
  readonly session: number;
}
