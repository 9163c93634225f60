/** The edges that follow a public stream. */

import type { CoreLink } from "@perpgate/link";

export type EdgeFollower = Pick<CoreLink, "hasRoom" | "notify">;

/**
 * Of a stream that shows the latest state: an edge that has no room is left out, and has to get the
 * whole state before it gets a change again.
 */
export class Followers {
  /** Whether each has the state up to the last change. */
  private readonly current = new Map<EdgeFollower, boolean>();

  get size(): number {
    return this.current.size;
  }

  add(follower: EdgeFollower): void {
    this.current.set(follower, false);
  }

  delete(follower: EdgeFollower): void {
    this.current.delete(follower);
  }

  has(follower: EdgeFollower): boolean {
    return this.current.has(follower);
  }

  /** Whether one of them needs the whole state. */
  get isAnyBehind(): boolean {
    for (const isCurrent of this.current.values()) if (!isCurrent) return true;
    return false;
  }

  /** To those that have the state `change`, if there is one, to the others the state. */
  send(state: (to: EdgeFollower) => void, change: ((to: EdgeFollower) => void) | undefined): void {
    for (const [follower, isCurrent] of this.current) {
      if (isCurrent && change === undefined) continue;
      const { hasRoom } = follower;
      if (hasRoom) (isCurrent ? (change ?? state) : state)(follower);
      this.current.set(follower, hasRoom);
    }
  }

  /** What may not be left out. */
  sendAll(send: (to: EdgeFollower) => void): void {
    for (const follower of this.current.keys()) send(follower);
  }
}
