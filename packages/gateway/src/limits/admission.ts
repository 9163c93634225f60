/**
 * Admission control: a bound on the orders in flight.
 *
 * Above it an order is refused with `overloaded` before its signature is checked, since more orders in
 * flight would only make all of them wait longer. An admitted order is always answered with its outcome.
 * Cancels are not counted: they reduce the load.
 */

import { ApiError } from "@perpgate/protocol/core";
import type { HeaderSink } from "../request.js";

export class Admission {
  private pending = 0;

  constructor(private readonly maxPending: number) {}

  get inFlight(): number {
    return this.pending;
  }

  /** Counts an order in, or throws `overloaded`. Each call that returns needs one call of `leave`. */
  enter(header: HeaderSink): void {
    if (this.pending >= this.maxPending) {
      header("retry-after", "1");
      throw new ApiError("overloaded", {});
    }
    this.pending++;
  }

  leave(): void {
    this.pending--;
  }
}
