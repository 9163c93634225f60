/** "Presence": the connections of a session that is over. */
import type { State } from "./state.js";

export function forgetConnections(state: State, session: number): void {
  for (const writer of state.writers) writer.sessions.delete(session);
  state.former.delete(session);
}
