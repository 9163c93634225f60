/** `perpgate serve`: runs the server until SIGTERM or SIGINT, and drains it then. */

import { setFlagsFromString } from "node:v8";
import { readVersion } from "../version.js";
import { bannerText } from "./banner.js";
import { readConfiguration } from "./configuration.js";
import { ProcessExit } from "./exit/process-exit.js";
import { flagSettings, type ServeOptions } from "./options.js";
import { onStopSignal } from "./stop-signals.js";

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

export async function runServer(options: ServeOptions): Promise<void> {
  const settings = readConfiguration(flagSettings(options), process.env);
  const attestorKey = process.env.PERPGATE_ATTESTOR_KEY;
  // No child process or thread needs it.
  delete process.env.PERPGATE_ATTESTOR_KEY;
  // For all threads, from their next full collection on.
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const { serve } = await import("./serve.js");
  const exit = ProcessExit.install();
  const version = readVersion();
  const accepted = { loss: options.acceptLoss === true, clock: options.acceptClock === true };
  let stop = () => exit.stopStart();
  // Before the venue opens: a killed start leaves the history marked as one that may be damaged.
  onStopSignal(() => stop());
  const perpgate = await serve(settings, version, accepted, exit, attestorKey).catch((error) => {
    exit.fail(error);
    return undefined;
  });
  if (perpgate === undefined) return;
  stop = () => exit.stop(() => perpgate.stop(), perpgate.stopWithinMs);
  process.stdout.write(bannerText(perpgate, version));
}
