/** What every signed command has in common: session, nonce, key. */
import { emit } from "../events/event-log.js";
import { REFUSAL } from "../reasons.js";
import { liveSession, refuse } from "../refuse.js";
import type { SessionRow } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";

interface Signed {
  readonly session: number;
  readonly key: string;
  readonly nonce: number;
}

/** The session of a command that is new and has the session's key; otherwise says why not. */
export function signingSession(s: VenueState, command: Signed): SessionRow | undefined {
  const session = liveSession(s, command.session);
  if (session === undefined) return undefined;
  const { nonce } = command;
  const original = session.nonces.orderOf(nonce);
  if (original !== 0) {
    emit.OrderReplayed(s.events, { session: session.number, nonce, orderId: original });
    return undefined;
  }
  if (session.nonces.isTooOld(nonce)) {
    refuse(s, REFUSAL.nonce_too_old, session.nonces.lowest());
    return undefined;
  }
  if (command.key !== session.key) {
    refuse(s, REFUSAL.session_key_rotated);
    return undefined;
  }
  return session;
}
