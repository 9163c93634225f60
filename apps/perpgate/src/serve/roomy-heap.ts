/**
 * How far the heap may grow between two full collections.
 *
 * The venue's own objects are some thirty megabytes, and an order leaves less than a kilobyte that
 * lives long enough to leave the young generation. V8 by itself lets the heap grow by a quarter, so
 * that under a steady 2,000 orders a second it collects everything every five seconds: fifty
 * milliseconds in which marking has half of the event loop and another core, and orders wait for ten
 * to fifty. Allowed to grow to twice what is alive, it does so every half minute, for some forty
 * megabytes of memory: a share of the time that no longer shows in the 99th percentile.
 */
import { setFlagsFromString } from "node:v8";

const GROWING_PERCENT = 100;

/** Of all threads, from their next full collection on. */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
