/**
 * The venue's time, computed from the log alone by the documented rule: a tick counts if it is newer
 * than the last and at most a second ahead of it; other commands happen at their stamp, not before
 * the previous command and at most a second after the last tick; only the beginning and a resume
 * jump. So the venue's time never goes back, even if the clocks of the machines do.
 */

import type { Command } from "@perpgate/engine";

const SLOT_MS = 200;
const LEAD_MS = 1_000;

export class TimeRule {
  private timeMs = 0;
  private lastTickMs = 0;
  private begun = false;

  /** The venue's time after the command. */
  after(command: Command): number {
    if (!this.begun && command.kind !== "Genesis") return this.timeMs;
    if (command.kind === "Tick") this.tick(command.slot * SLOT_MS);
    else if (command.kind === "Resume" || !this.begun) this.jump(command.stampMs);
    else this.pass(Math.min(command.stampMs, this.lastTickMs + LEAD_MS));
    this.begun = true;
    return this.timeMs;
  }

  private tick(toMs: number): void {
    if (toMs <= this.lastTickMs || toMs > this.lastTickMs + LEAD_MS) return;
    this.lastTickMs = toMs;
    this.pass(toMs);
  }

  private jump(toMs: number): void {
    this.pass(toMs);
    this.lastTickMs = Math.max(this.lastTickMs, this.timeMs - (this.timeMs % SLOT_MS));
  }

  private pass(toMs: number): void {
    this.timeMs = Math.max(this.timeMs, toMs);
  }
}
