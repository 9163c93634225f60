/** `perpgate serve`: runs the server until SIGTERM or SIGINT, and drains it then. */

import { availableParallelism } from "node:os";
import { readVersion } from "../version.js";
import { bannerText } from "./banner.js";
import { readConfiguration } from "./configuration.js";
import { flagSettings, type ServeOptions } from "./options.js";
import { forkVenue } from "./processes/forked.js";
import type { Settings } from "./settings.js";

const MOST_EDGES = 8;

export async function runServer(options: ServeOptions): Promise<void> {
  const settings = readConfiguration(flagSettings(options), process.env);
  const attestorKey = process.env.PERPGATE_ATTESTOR_KEY;
  // No other process needs it in its environment.
  delete process.env.PERPGATE_ATTESTOR_KEY;
  const forked = forkVenue(edgesOf(settings));
  const { serve } = await import("./serve.js");
  const version = readVersion();
  const accepted = { loss: options.acceptLoss === true, clock: options.acceptClock === true };
  const perpgate = await serve(forked, settings, version, accepted, attestorKey);
  process.stdout.write(bannerText(perpgate, version));
}

/** By default one for each processor that the core leaves. */
export function edgesOf({ edges }: Settings): number {
  return edges ?? Math.min(MOST_EDGES, Math.max(1, availableParallelism() - 1));
}
