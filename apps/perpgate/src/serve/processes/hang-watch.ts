/**
 * Whether a process that is pinged hangs. An edge under attack on a machine whose processors are all busy
 * may need seconds for a turn of its event loop, most of them in the queue for a processor. It is at work,
 * and killing it would end all of its clients' connections: that time does not count. A stopped process is
 * in no queue.
 */

import { readFileSync } from "node:fs";

/** Own ticks, not time: a supervisor that was stopped counts one. */
export const PING_MS = 500;
const LOST_PINGS = 4;

export class HangWatch {
  private unansweredMs = 0;
  private isAnswered = true;
  private queuedMs = 0;

  /** `queuedMs`: how long the process has waited for a processor so far. */
  constructor(private readonly readQueuedMs: () => number) {}

  /** A ping was answered. */
  answered(): void {
    this.isAnswered = true;
    this.unansweredMs = 0;
  }

  /** Must be called every `PING_MS`, before the next ping; returns whether the process hangs. */
  tick(): boolean {
    const before = this.queuedMs;
    this.queuedMs = this.readQueuedMs();
    if (!this.isAnswered) this.unansweredMs += Math.max(0, PING_MS - (this.queuedMs - before));
    this.isAnswered = false;
    return this.unansweredMs >= LOST_PINGS * PING_MS;
  }
}

/** How long the main thread has waited for a processor; 0 where the system does not tell, as off Linux. */
export function processorQueueMs(pid: number | undefined): number {
  try {
    const [, queuedNs] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
    return Number(queuedNs) / 1e6 || 0;
  } catch {
    return 0;
  }
}
