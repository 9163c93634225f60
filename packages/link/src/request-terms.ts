/**
 * The terms of unsigned requests, made by their edge: ids that no other request has, and a last moment by
 * the venue's time as the core says it. Without news of it an edge counts on for 10 s, not longer: the venue's
 * time may stand still, and a last moment too far ahead is refused.
 */

import { randomBytes } from "node:crypto";
import type { RequestTerms } from "./frames.js";

const LIFE_MS = 10_000;
const COUNTED_ON_MS = 10_000;
const HALF_BYTES = 8;

export class RequestClock {
  private requests = 0;
  private timeMs = 0;
  private learntAtMs = 0;

  /** `run`: what ids begin with, no other edge's; 16 digits of lower-case hex. */
  constructor(
    private readonly nowMs: () => number = () => performance.now(),
    private readonly run: string = randomBytes(HALF_BYTES).toString("hex"),
  ) {}

  learn(timeMs: number): void {
    this.timeMs = timeMs;
    this.learntAtMs = this.nowMs();
  }

  next(): RequestTerms {
    this.requests++;
    const id = this.run + this.requests.toString(16).padStart(2 * HALF_BYTES, "0");
    const sinceMs = Math.min(this.nowMs() - this.learntAtMs, COUNTED_ON_MS);
    return { id, notAfterMs: Math.round(this.timeMs + sinceMs + LIFE_MS) };
  }
}
