/** `perpgate serve`: runs the server until SIGTERM or SIGINT, and drains it then. */

import { readVersion } from "../version.js";
import { bannerText } from "./banner.js";
import { readConfiguration } from "./configuration.js";
import { flagSettings, type ServeOptions } from "./options.js";

export async function runServer(options: ServeOptions): Promise<void> {
  const settings = readConfiguration(flagSettings(options), process.env);
  const attestorKey = process.env.PERPGATE_ATTESTOR_KEY;
  // No other process needs it in its environment.
  delete process.env.PERPGATE_ATTESTOR_KEY;
  const { serve } = await import("./serve.js");
  const version = readVersion();
  const accepted = { loss: options.acceptLoss === true, clock: options.acceptClock === true };
  const perpgate = await serve(settings, version, accepted, attestorKey);
  process.stdout.write(bannerText(perpgate, version));
}
