/**
 * A process's own side of its supervisor. Signals are for the supervisor, which says when to stop: a
 * terminal, or a service's end, signals all of them.
 */

import { setFlagsFromString } from "node:v8";

/**
 * How far the heap may grow between two full collections, in percent of what is alive.
 *
 * The venue's own objects are some thirty megabytes, and an order leaves less than a kilobyte that
 * survives the young generation. V8's default growth is a quarter: at a steady 2,000 orders a second
 * it collects everything every five seconds, fifty milliseconds in which marking takes half of the
 * event loop and another core, and orders wait for ten to fifty. At 100 percent it does so every half
 * minute, for some forty megabytes of memory, and no longer shows in the 99th percentile.
 */
const HEAP_GROWING_PERCENT = 100;

interface Supervised<ToProcess> {
  /** Called with every message after the first. */
  receive(message: ToProcess): void;
  /** The supervisor is gone, and with it what it held: its ports and the other processes. */
  lost(): void;
  /** A signal asks this process alone to stop. */
  signaled?(): void;
}

/** `begin` gets the first message. Called before anything else is loaded: a signal may arrive immediately. */
export function runSupervised<Data, ToProcess, FromProcess extends object>(
  begin: (data: Data, send: (message: FromProcess) => void) => Supervised<ToProcess>,
): void {
  // For all threads, from their next full collection on.
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  let supervised: Supervised<ToProcess> | undefined;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => supervised?.signaled?.());
  }
  process.once("disconnect", () => {
    if (supervised === undefined) process.exit(1);
    supervised.lost();
  });
  const send = (message: FromProcess): void => {
    // A failure shows as the end of the channel.
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  };
  process.once("message", (data: Data) => {
    const begun = begin(data, send);
    supervised = begun;
    process.on("message", (message: ToProcess) => begun.receive(message));
  });
}
