/**
 * "Requests that are sent again": the first is executed or refused, and known for 30 s; later ones only say
 * where it is.
 */

import type { UnsignedTerms } from "../../commands/request-terms.js";
import type { Command } from "../../commands.js";
import { emit } from "./end-events.js";
import { type Refused, refused } from "./refusal.js";
import { rulesOf, type State } from "./state.js";

const KEPT_MS = 30_000;

function termsOf(state: State, command: Command): UnsignedTerms | undefined {
  if (!("request" in command)) return undefined;
  return rulesOf(state).requestsAreKept ? command.request : undefined;
}

/** What comes of a command that is not executed; undefined if it is. */
export function answerOf(state: State, command: Command): Refused | null | undefined {
  const terms = termsOf(state, command);
  if (terms === undefined) return undefined;
  const known = state.requests.get(terms.id);
  if (known !== undefined && state.time < known.time + KEPT_MS) {
    emit(state, { kind: "RequestRepeated", position: known.position });
    return null;
  }
  if (terms.id.length !== 32) return refused("invalid_command");
  const isLate = state.time > terms.notAfterMs;
  const isFarAhead = terms.notAfterMs >= state.time + KEPT_MS;
  return isLate || isFarAhead
    ? refused("request_too_late", terms.notAfterMs, state.time)
    : undefined;
}

export function keepRequest(state: State, command: Command): void {
  const terms = termsOf(state, command);
  if (terms === undefined) return;
  state.requests.set(terms.id, { position: state.position, time: state.time });
}
