/**
 * The state of the line to the venue, as a person should read it, and the moment it comes back.
 *
 * The client reconnects and resumes its streams by itself. What is not on a stream (lists, history)
 * is asked for again by whoever registered here.
 */

import type { PerpgateClient, StreamState } from "@perpgate/sdk";
import { Store } from "../state/store.js";

export const CONNECTION_WORDS: Readonly<Record<StreamState, { label: string; tone: string }>> = {
  idle: { label: "Connecting…", tone: "" },
  connecting: { label: "Connecting…", tone: "" },
  open: { label: "Live", tone: "on" },
  waiting: { label: "Reconnecting…", tone: "off" },
  closed: { label: "Closed", tone: "off" },
};

export class Connection {
  readonly state: Store<StreamState>;
  private readonly listeners = new Set<() => void>();
  private wasOpen = false;

  constructor({ stream }: PerpgateClient) {
    this.state = new Store<StreamState>(stream.state, "at-once");
    stream.onState((state) => {
      this.state.set(state);
      if (state !== "open") return;
      if (this.wasOpen) for (const listener of [...this.listeners]) listener();
      this.wasOpen = true;
    });
  }

  /** Calls back after each reconnection; answers how to stop that. */
  onReturn(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
