/** Signing in: nonce, EIP-4361 message, session key, token. */

import { type Static, Type } from "typebox";
import { LogPosition, TimeMs } from "../text/scalar.js";
import { SESSION_KEY_PATTERN } from "./session-key.js";

const SessionKey = Type.String({
  pattern: SESSION_KEY_PATTERN,
  description: "Hex, 0x optional: 32 bytes is Ed25519; 33, 64 or 65 bytes is secp256k1.",
});

export const Nonce = Type.Object(
  {
    nonce: Type.String({ pattern: "^[a-zA-Z0-9]{8,}$" }),
    expiresAt: TimeMs,
  },
  { title: "Nonce" },
);
export type Nonce = Static<typeof Nonce>;

export const SignInBody = Type.Object(
  {
    message: Type.String({ minLength: 1, description: "The EIP-4361 message, as signed." }),
    signature: Type.String({ minLength: 1, description: "The wallet's signature, hex." }),
    sessionKey: SessionKey,
  },
  { title: "SignInBody" },
);
export type SignInBody = Static<typeof SignInBody>;

export const SessionToken = Type.Object(
  { token: Type.String(), expiresAt: TimeMs },
  { title: "SessionToken" },
);
export type SessionToken = Static<typeof SessionToken>;

export const RotateBody = Type.Object({ newSessionKey: SessionKey }, { title: "RotateBody" });
export type RotateBody = Static<typeof RotateBody>;

export const RotatedSession = Type.Object(
  { token: Type.String(), expiresAt: TimeMs, sessionKey: Type.String() },
  { title: "RotatedSession" },
);
export type RotatedSession = Static<typeof RotatedSession>;

export const EndedSession = Type.Object({ endedAt: TimeMs }, { title: "EndedSession" });
export type EndedSession = Static<typeof EndedSession>;

export const EndedSessions = Type.Object(
  { ended: Type.Array(LogPosition) },
  { title: "EndedSessions" },
);
export type EndedSessions = Static<typeof EndedSessions>;
