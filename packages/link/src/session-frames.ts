/** The requests about sessions: signing in, changing and ending them, and what an edge knows of one. */

import { EndedSession, EndedSessions } from "@perpgate/protocol";
import { requestRule, unsigned } from "./frame-rules.js";
import { bytes, count, flag, list, optional, record, text, whole } from "./kinds.js";
import { shaped } from "./schema-kind.js";

/** A compressed point of secp256k1; a key of Ed25519 has one byte less. */
export const MAX_KEY_BYTES = 33;
export const SIGNATURE_BYTES = 64;
/** SHA-256 in lower-case hex: of a session's key, by which both sides know its version; of a token. */
export const HASH = text(64);

/** What an edge needs of a session. */
const SESSION = {
  account: count(),
  tokenHash: HASH,
  publicKey: bytes(MAX_KEY_BYTES),
  isKeyBound: flag,
};
/** A signature of the session's key, and which key that was. */
const PROOF = { key: HASH, signature: bytes(SIGNATURE_BYTES) };

export const SESSION_REQUESTS = {
  awaitPosition: requestRule(
    128,
    { position: count(), isAnswered: flag },
    { isReached: flag },
    "Waits a moment until a position is applied; `isAnswered`: or nobody can have been answered with it.",
  ),
  getSession: requestRule(
    130,
    { session: count() },
    { found: optional(record(SESSION)) },
    "A live session, for the edge to check its token and its signatures.",
  ),
  prepareSignIn: requestRule(
    132,
    {
      address: text(40),
      nonce: text(65_536),
      symbols: list(text(256), 65_536),
    },
    { markets: list(count(), 65_536), unlisted: optional(text(256)), isGranted: flag },
    "Before the proofs of a sign-in: refuses a used nonce; finds the markets of its resource, and whether the account gets test money.",
  ),
  signIn: unsigned(
    134,
    {
      address: text(40),
      publicKey: bytes(MAX_KEY_BYTES),
      tokenHash: HASH,
      nonce: text(65_536),
      /** By the wall clock. */
      expiresAt: whole,
      nonceForgottenAt: whole,
      maxOrderNotionalMicros: count(),
      maxNotionalMicros: count(),
      markets: list(count(), 65_536),
      message: bytes(65_536),
      signature: bytes(65_536),
      /** Of the chain whose contract confirmed the signature; undefined if a key signed. */
      contractChainId: optional(count()),
    },
    { session: count(), account: count() },
    "Opens a session, whose message the edge has checked.",
  ),
  prepareSessionChange: requestRule(
    136,
    { session: count(), other: optional(text(20)) },
    { current: record(SESSION) },
    "Counts a signed change of sessions, finds the other session that it ends, and gives the caller's as the whole log has it.",
  ),
  rotateSession: unsigned(
    138,
    {
      session: count(),
      key: HASH,
      newPublicKey: bytes(MAX_KEY_BYTES),
      bytes: bytes(65_536),
      signature: optional(bytes(SIGNATURE_BYTES)),
    },
    { expiresAt: whole },
    "Ties a session to a new key; the old one may have signed the body.",
  ),
  endSession: unsigned(140, { session: count() }, { result: shaped(EndedSession) }, "Signs out."),
  endSessionById: unsigned(
    142,
    { session: count(), id: text(20), proof: optional(record(PROOF)) },
    { result: shaped(EndedSession) },
    "Ends a session of the account; another than the caller's with proof.",
  ),
  endOtherSessions: unsigned(
    144,
    { session: count(), proof: record(PROOF) },
    { result: shaped(EndedSessions) },
    "Ends all sessions of the account but the caller's.",
  ),
  setSessionOptions: unsigned(
    146,
    { session: count(), cancelOnDisconnect: flag },
    {},
    "Sets the options of a session.",
  ),
};
