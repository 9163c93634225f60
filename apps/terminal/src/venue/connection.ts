/**
 * The state of the connection to the venue. The client reconnects and resumes its streams; data that
 * is not on a stream is reloaded by the listeners of `onReturn`.
 */

import type { PerpgateClient, StreamState } from "@perpgate/sdk";
import { Store } from "../state/store.js";

export const CONNECTION_LABELS: Readonly<Record<StreamState, { label: string; tone: string }>> = {
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
    this.state = new Store<StreamState>(stream.state, "immediate");
    stream.onState((state) => {
      this.state.set(state);
      if (state !== "open") return;
      if (this.wasOpen) for (const listener of [...this.listeners]) listener();
      this.wasOpen = true;
    });
  }

  /** Calls back after each reconnection; returns a function that unsubscribes. */
  onReturn(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
