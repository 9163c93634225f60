/** Puts the configuration of a file into the log of a running venue. */

import type { Venue } from "@perpgate/venue";
import { StartError } from "../cli/start-error.js";
import { bridgeOf } from "./bridge/settings-bridge.js";
import { readConfiguration } from "./configuration.js";
import { refuseMissingFeeds } from "./index-source.js";
import type { Settings } from "./settings.js";
import type { VenueIndex } from "./venue-index.js";
import { venueTermsOf } from "./venue-opening.js";

/**
 * Rejects if the file or the engine refuses it. `attestorKey` is the key from the environment of the
 * start. It makes a member where the file names none; a file that names them may leave it out, which
 * removes the attestor.
 */
export async function configureVenue(
  venue: Venue,
  index: Pick<VenueIndex, "addMarkets" | "source">,
  config: string,
  attestorKey: string | undefined,
): Promise<void> {
  const settings = readConfiguration({ config }, {});
  refuseOtherSource(settings, index.source.name);
  refuseMissingFeeds(settings);
  const key = settings.bridge.members === undefined ? attestorKey : undefined;
  await venue.configure(venueTermsOf(settings, bridgeOf(settings, key)));
  await index.addMarkets(settings);
}

/** A file without an `index` section has the simulator, which must not replace a real index. */
function refuseOtherSource({ index }: Settings, running: string): void {
  if (index.source === running) return;
  throw new StartError(
    `"index.source" of the file is "${index.source}", that of the running gateway is "${running}"; ` +
      "only a restart changes it",
  );
}
