/** Tells edges of sessions that were tied to another key, or ended: they keep what they know of one. */

import { EVENT } from "@perpgate/engine";
import { eventWords, firstOwnEvent, SESSION_CLOSED } from "../event-fields.js";
import type { Applied } from "../replica.js";

export interface SessionSink {
  onSessionChanged(session: number, publicKey: Uint8Array): void;
  onSessionEnded(session: number): void;
}

/** Called for every command; only these can change a session. */
export function emitSessionChanges(
  { command, evidence, events }: Applied,
  sink: SessionSink,
): void {
  const { words, length } = events;
  switch (command.kind) {
    case "RotateSession":
      if (words[firstOwnEvent(events)] === EVENT.SessionRotated) {
        sink.onSessionChanged(command.session, Uint8Array.from(evidence.publicKey));
      }
      return;
    case "OpenSession":
    case "CloseSession":
    case "Tick":
      for (let at = 0; at < length; at += eventWords(words[at]!)) {
        if (words[at] === EVENT.SessionClosed) {
          sink.onSessionEnded(words[at + SESSION_CLOSED.session]!);
        }
      }
  }
}
