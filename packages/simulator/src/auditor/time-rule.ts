/**
 * The venue's time, computed from the log alone by the documented rule: a tick counts if it is newer
 * than the last, at most a second ahead of it, and the first of its batch; other commands happen at
 * their stamp, not before the previous command and at most a second after the last tick; only the
 * beginning and an ask for the time jump, the latter if it asks for a second or more. So the venue's time never goes back, even if the clocks of the machines do.
 */

import type { Command } from "@perpgate/engine";

const SLOT_MS = 200;
const LEAD_MS = 1_000;

export class TimeRule {
  private timeMs = 0;
  private lastTickMs = 0;
  private begun = false;
  private hasTicked = false;

  /** The venue's time after the command. */
  after(command: Command): number {
    if (!this.begun && command.kind !== "Genesis") return this.timeMs;
    if (command.kind === "Tick") this.tick(command.slot * SLOT_MS);
    else if (!this.begun || this.isJump(command)) this.jump(command.stampMs);
    else this.pass(Math.min(command.stampMs, this.lastTickMs + LEAD_MS));
    this.begun = true;
    return this.timeMs;
  }

  beginBatch(): void {
    this.hasTicked = false;
  }

  /** One writer is a majority of itself. */
  private isJump(command: Command): boolean {
    return command.kind === "AskTime" && command.stampMs >= this.lastTickMs + LEAD_MS;
  }

  private tick(toMs: number): void {
    if (this.hasTicked) return;
    this.hasTicked = true;
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
