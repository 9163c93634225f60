/** A refused command: one event with the reason and up to two figures, and nothing else. */
import { EVENT } from "./event-log.js";
import type { VenueState } from "./state/venue.js";

export function refuse(s: VenueState, refusal: number, detail1 = 0, detail2 = 0): false {
  const w = s.events.open(EVENT.CommandRefused, 3);
  s.events.words[w] = refusal;
  s.events.words[w + 1] = detail1;
  s.events.words[w + 2] = detail2;
  return false;
}
