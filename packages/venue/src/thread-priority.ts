/**
 * Lets the calling thread give way to the order path where both want the same core. Linux knows the
 * priority of a thread; elsewhere the call would slow the whole process, so nothing is done there.
 */
import { getPriority, setPriority } from "node:os";

const LOWEST_PRIORITY = 19;

/**
 * `niceness`: 1 gives way a little, 19 always. It is added to what the process has: as a value of its
 * own it would put the thread above an order path that somebody started at a low priority.
 */
export function giveWay(niceness: number): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(Math.min(LOWEST_PRIORITY, getPriority() + niceness));
  } catch {
    // It stays as it is.
  }
}
