/**
 * Admission: how many orders may be under way at once.
 *
 * Past what the venue keeps up with, each further order only makes all wait longer, so it is refused
 * at the door, before its signature is checked. An order that was let in is always answered with what
 * became of it. Cancels do not pass this door: under overload they are what helps.
 *
 * Orders are answered before their history is on disk. Where it does not keep up, what waits for it
 * would fill the memory, so that too closes the door.
 */

import { ApiError } from "@perpgate/protocol";
import type { HeaderSink } from "../request.js";

export class Admission {
  private pending = 0;

  constructor(
    private readonly maxPending: number,
    private readonly isBehind: () => boolean = () => false,
  ) {}

  get underWay(): number {
    return this.pending;
  }

  /** Lets one in or refuses with `overloaded`; who was let in calls `leave` once. */
  enter(header: HeaderSink): void {
    if (this.pending >= this.maxPending || this.isBehind()) {
      header("retry-after", "1");
      throw new ApiError("overloaded", {});
    }
    this.pending++;
  }

  leave(): void {
    this.pending--;
  }
}
