/** The result of a submitted command, for the response to a client. */
import { EVENT, REFUSALS, type Refusal } from "@perpgate/engine";
import type { LoggedAcknowledgement } from "@perpgate/protocol";
import {
  ENDED,
  eventWords,
  firstOwnEvent,
  REFUSED,
  REPLAYED,
  refusalIn,
  SESSION_CLOSED,
  SESSION_OPENED,
  WORK_DONE,
} from "../event-fields.js";
import type { Listing } from "../listing/listing.js";
import type { Applied } from "../replica.js";
import { acknowledgementIn } from "./acknowledgement.js";

export type CommandOutcome =
  | { readonly kind: "acknowledged"; readonly acknowledgement: LoggedAcknowledgement }
  /** That order used the nonce: the response is its acknowledgement, if the body is the same. */
  | { readonly kind: "replayed"; readonly orderId: number }
  | {
      readonly kind: "refused";
      readonly refusal: Refusal;
      readonly detail1: number;
      readonly detail2: number;
    }
  /** Executed, and none of the above. */
  | { readonly kind: "executed" };

/** Must be called within the submitter, while the event log is valid. */
export function commandOutcome(
  applied: Pick<Applied, "events" | "timeMs">,
  listing: Listing,
): CommandOutcome {
  const { events } = applied;
  const { words, length } = events;
  const at = firstOwnEvent(events);
  if (at < length && words[at] === EVENT.CommandRefused) {
    return {
      kind: "refused",
      refusal: REFUSALS[words[at + REFUSED.refusal]!] ?? "invalid_command",
      detail1: words[at + REFUSED.detail1]!,
      detail2: words[at + REFUSED.detail2]!,
    };
  }
  if (at < length && words[at] === EVENT.OrderReplayed) {
    return { kind: "replayed", orderId: words[at + REPLAYED.orderId]! };
  }
  const acknowledgement = acknowledgementIn(applied, listing);
  return acknowledgement === undefined
    ? { kind: "executed" }
    : { kind: "acknowledged", acknowledgement };
}

/** Whether the command came after the last moment at which it might be executed. */
export function cameTooLate({ events }: Pick<Applied, "events">): boolean {
  return refusalIn(events) === "request_too_late";
}

/** Whether the command is a copy of one that is in the log already. */
export function isCopy({ events }: Pick<Applied, "events">): boolean {
  return events.length > 0 && events.words[0] === EVENT.RequestRepeated;
}

/** The work units that the command reports; 0 if it took no more than an ordinary one. */
export function workUnitsIn({ events }: Pick<Applied, "events">): number {
  const { words, length } = events;
  for (let at = 0; at < length; at += eventWords(words[at]!)) {
    if (words[at] === EVENT.WorkDone) return words[at + WORK_DONE.units]!;
  }
  return 0;
}

/** Orders of the account that the command ended, in order. Must be called within the submitter. */
export function endedOrdersIn({ events }: Pick<Applied, "events">, account: number): number[] {
  const { words, length } = events;
  const ids: number[] = [];
  for (let at = 0; at < length; at += eventWords(words[at]!)) {
    if (words[at] !== EVENT.OrderEnded || words[at + ENDED.account] !== account) continue;
    ids.push(words[at + ENDED.orderId]!);
  }
  return ids;
}

/** The account whose session the command opened; undefined if it opened none. */
export function sessionOwnerIn({ events }: Pick<Applied, "events">): number | undefined {
  const { words, length } = events;
  for (let at = 0; at < length; at += eventWords(words[at]!)) {
    if (words[at] === EVENT.SessionOpened) return words[at + SESSION_OPENED.account];
  }
  return undefined;
}

/** The sessions that the command ended. */
export function closedSessionsIn({ events }: Pick<Applied, "events">): number[] {
  const { words, length } = events;
  const numbers: number[] = [];
  for (let at = 0; at < length; at += eventWords(words[at]!)) {
    if (words[at] === EVENT.SessionClosed) numbers.push(words[at + SESSION_CLOSED.session]!);
  }
  return numbers;
}
