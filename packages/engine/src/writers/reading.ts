/** What readers ask about writers and presence. */
import type { VenueState } from "../state/venue.js";
import type { Writer } from "../state/writers.js";

/** Live writers, in the order of joining. */
export function liveWriters(s: VenueState): readonly Writer[] {
  return s.writers.live;
}

/** The epoch of the core that leads; 0 while the log has several writers, or none. */
export function epochOf(s: VenueState): number {
  return s.writers.epoch;
}

/** Whether a core may claim to lead under the rules in force. */
export function mayLead(s: VenueState): boolean {
  return s.rules.hasLeader;
}

/** The live writer with that id. */
export function writerOf(s: VenueState, id: string): Writer | undefined {
  return s.writers.get(id);
}

/** Whether the session has a connection at any writer. */
export function isConnected(s: VenueState, session: number): boolean {
  return s.sessions.presence.isConnected(session);
}
