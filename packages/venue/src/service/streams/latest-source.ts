/**
 * Public streams of the latest state for edges: tickers, candles, status, the list of markets. An edge
 * gets the state when it follows, then each change that a round finds once `isDue` was set.
 */

import { type EdgeFollower, Followers } from "./followers.js";
import type { Source } from "./rounds.js";

export interface State {
  /** Two states with the same fingerprint are sent once. */
  readonly fingerprint: string;
  send(to: EdgeFollower): void;
}

export class LatestSource implements Source {
  readonly followers = new Followers();
  /** Whether the state may have changed since the last round that sent changes. */
  isDue = false;
  private fingerprint = "";

  /** `read` returns undefined while there is no state. */
  constructor(private readonly read: () => State | undefined) {}

  send(): boolean {
    const state = this.read();
    if (state === undefined) return false;
    const send = (to: EdgeFollower): void => state.send(to);
    const isFirst = this.fingerprint === "";
    const isChanged = this.isDue && state.fingerprint !== this.fingerprint;
    if (this.isDue || isFirst) this.fingerprint = state.fingerprint;
    this.isDue = false;
    this.followers.send(send, isChanged ? send : undefined);
    return this.followers.isAnyBehind;
  }
}
