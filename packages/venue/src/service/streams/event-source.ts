/** Public streams of which nothing may be left out: trades and blocks, those of a round together. */

import { type Follower, Followers } from "./followers.js";
import type { Source } from "./rounds.js";

export class EventSource<Event> implements Source {
  readonly followers = new Followers();
  private events: Event[] = [];

  constructor(private readonly sendTo: (to: Follower, events: readonly Event[]) => void) {}

  add(event: Event): void {
    this.events.push(event);
  }

  send(): boolean {
    const { events } = this;
    this.events = [];
    if (events.length > 0) this.followers.sendAll((follower) => this.sendTo(follower, events));
    return false;
  }
}
