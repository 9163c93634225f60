/** A refused command: one event with the reason and up to two figures, and no change. */
import { emit } from "./events/event-log.js";
import { REFUSAL } from "./reasons.js";
import type { Market } from "./state/market.js";
import type { SessionRow } from "./state/sessions.js";
import type { VenueState } from "./state/venue.js";

export function refuse(s: VenueState, refusal: number, detail1 = 0, detail2 = 0): false {
  emit.CommandRefused(s.events, { refusal, detail1, detail2 });
  return false;
}

/** The session if it is live; otherwise refuses the command and returns undefined. */
export function liveSession(s: VenueState, number: number): SessionRow | undefined {
  const session = s.sessions.find(number);
  if (session === undefined) {
    refuse(s, REFUSAL.session_unknown);
    return undefined;
  }
  if (s.timeMs >= session.expiresAtMs) {
    refuse(s, REFUSAL.session_expired);
    return undefined;
  }
  return session;
}

/** Whether the venue's time is past the last moment at which a command is valid; 0: it always is. */
export function isTooLate({ timeMs }: VenueState, validUntilMs: number): boolean {
  return validUntilMs !== 0 && timeMs > validUntilMs;
}

/** Refuses while an index is held back, or the liquidations of a jump are not done. */
export function mayTrade(s: VenueState, market: Market): boolean {
  if (market.guard.isHolding) {
    return refuse(s, REFUSAL.index_held, market.guard.heldTicks, market.index);
  }
  return s.isSettled(market) || refuse(s, REFUSAL.index_held, market.index, market.settledMark);
}
