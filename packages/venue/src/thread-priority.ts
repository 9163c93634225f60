/**
 * Lets the calling thread give way to the order path where both want the same core. Linux knows the
 * priority of a thread; elsewhere the call would slow the whole process, so nothing is done there.
 */
import { setPriority } from "node:os";

/** `niceness`: 1 gives way a little, 19 always. */
export function giveWay(niceness: number): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(niceness);
  } catch {
    // It stays as it is.
  }
}
