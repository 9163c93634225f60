/** Puts the configuration of a file into the log of a running venue. */

import type { Venue } from "@perpgate/venue";
import { bridgeOf } from "./bridge/settings-bridge.js";
import { readConfiguration } from "./configuration.js";
import { venueTermsOf } from "./venue-opening.js";

/** Rejects if the file or the engine refuses it. */
export async function configureVenue(venue: Venue, config: string): Promise<void> {
  const settings = readConfiguration({ config }, {});
  await venue.configure(venueTermsOf(settings, bridgeOf(settings, undefined)));
}
