/** Puts the configuration of a file into the log of a running venue. */

import type { BridgeConfig } from "@perpgate/bridge";
import type { Venue } from "@perpgate/venue";
import { StartError } from "../cli/start-error.js";
import { bridgeOf } from "./bridge/settings-bridge.js";
import { readConfiguration } from "./configuration.js";
import { refuseMissingFeeds } from "./index-source.js";
import { refuseOnStandby } from "./operator-command.js";
import type { Settings } from "./settings.js";
import type { VenueIndex } from "./venue-index.js";
import { venueTermsOf } from "./venue-opening.js";

/** What this process was started with. */
interface AtStart {
  readonly bridge: BridgeConfig;
  /** The key from the environment. */
  readonly attestorKey: string | undefined;
}

/**
 * Rejects if the file or the engine refuses it. The key of the start makes a member where the file
 * names none; a file that names them may leave it out, which removes the attestor.
 */
export async function configureVenue(
  venue: Venue,
  index: Pick<VenueIndex, "addMarkets" | "source">,
  config: string,
  atStart: AtStart,
): Promise<void> {
  refuseOnStandby(venue);
  const settings = readConfiguration({ config }, {});
  refuseOtherSource(settings, index.source.name);
  refuseMissingFeeds(settings);
  const key = settings.bridge.members === undefined ? atStart.attestorKey : undefined;
  const bridge = bridgeOf(settings, key);
  refuseNewTokens(bridge, atStart.bridge);
  await venue.configure(venueTermsOf(settings, bridge));
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

/**
 * Votes name all tokens of their chain that the log has. A gateway does not know the decimals of a
 * token that its file lacks: it leaves the token out of its terms, and votes by these do not count.
 */
function refuseNewTokens(bridge: BridgeConfig, atStart: BridgeConfig): void {
  if (bridge.kind === "dev" || atStart.kind === "dev") return;
  for (const { chain, tokens } of bridge.chains) {
    const known = atStart.chains.find((config) => config.chain === chain)?.tokens ?? {};
    const missing = Object.keys(tokens).find((token) => !(token in known));
    if (missing === undefined) continue;
    throw new StartError(
      `"bridge": this gateway was started without ${missing} on ${chain}; start the gateways with the file first, then configure`,
    );
  }
}
