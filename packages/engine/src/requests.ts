/**
 * Unsigned requests that are sent again. An edge that has no answer, because its core or link was lost, sends
 * the same request to the core that leads then; both copies may be in the log. The first is executed, or
 * refused, and kept for 30 s; a later one changes nothing, and says where the first is.
 *
 * A request is executed until its `notAfterMs`, which is less than 30 s ahead: so no copy can come after the
 * first has been forgotten.
 */

import type { UnsignedTerms } from "./commands/request-terms.js";
import type { Command } from "./commands.js";
import { REQUEST_KEPT_MS } from "./config.js";
import { emit } from "./events/event-log.js";
import { EVENT, EVENT_FIELDS, EVENT_KINDS } from "./events/event-table.js";
import { REFUSAL } from "./reasons.js";
import { refuse } from "./refuse.js";
import type { VenueState } from "./state/venue.js";

/** What answers are made of. */
const KEPT_EVENTS: ReadonlySet<number> = new Set([
  EVENT.CommandRefused,
  EVENT.OrderEnded,
  EVENT.SessionOpened,
  EVENT.SessionClosed,
  EVENT.CancelAcknowledged,
]);
const ID = /^[0-9a-f]{32}$/;

function termsOf(s: VenueState, command: Command): UnsignedTerms | undefined {
  return s.rules.keepsRequests && "request" in command ? command.request : undefined;
}

/** Whether the command is not to be executed: it is a copy, or too late. Its only event says so. */
export function isAnswered(s: VenueState, command: Command): boolean {
  const terms = termsOf(s, command);
  if (terms === undefined) return false;
  const { id, notAfterMs } = terms;
  const kept = s.requests.get(id, s.timeMs);
  if (kept !== undefined) {
    emit.RequestRepeated(s.events, { position: kept.position });
    return true;
  }
  if (!ID.test(id)) return !refuse(s, REFUSAL.invalid_command);
  const isOpen = s.timeMs <= notAfterMs && notAfterMs < s.timeMs + REQUEST_KEPT_MS;
  return !isOpen && !refuse(s, REFUSAL.request_too_late, notAfterMs, s.timeMs);
}

/** Keeps what became of it. The last step of a command: it has no undo. */
export function keepRequest(s: VenueState, command: Command): void {
  const terms = termsOf(s, command);
  if (terms === undefined) return;
  const words: number[] = [];
  const { events } = s;
  for (let at = 0; at < events.length; ) {
    const kind = events.words[at]!;
    const end = at + 1 + EVENT_FIELDS[EVENT_KINDS[kind]!].length;
    if (KEPT_EVENTS.has(kind)) words.push(...events.words.subarray(at, end));
    at = end;
  }
  const { seq: position, timeMs } = s;
  s.requests.keep({ id: terms.id, position, timeMs, words: Float64Array.from(words) });
}
