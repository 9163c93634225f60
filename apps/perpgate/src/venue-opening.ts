/** Opens the venue of the data folder; what keeps it from opening is told in one line. */

import type { BridgeConfig } from "@perpgate/bridge";
import { JournalError, JournalLocked } from "@perpgate/journal";
import {
  ConfigRefused,
  DEFAULT_PARAMETERS,
  HistoryLost,
  Venue,
  type VenueLogger,
  venueConfigOf,
} from "@perpgate/venue";
import { attestationParameters, attestorKeysOf } from "./bridge/settings-bridge.js";
import { CohortControl } from "./cohort-control.js";
import type { Settings } from "./settings.js";
import { StartError } from "./start-error.js";

export async function openSettingsVenue(
  settings: Settings,
  bridge: BridgeConfig,
  directory: string,
  logger: VenueLogger,
): Promise<Venue> {
  const { markets, risk, cohort, snapshots } = settings;
  let venue: Venue;
  try {
    venue = await Venue.open({
      directory,
      config: venueConfigOf(markets, {
        ...DEFAULT_PARAMETERS,
        ...risk,
        ...attestationParameters(bridge),
      }),
      attestors: attestorKeysOf(bridge),
      listing: markets,
      cohort: cohort.stage,
      checkpoints: snapshots,
      logger,
    });
  } catch (error) {
    throw isKnown(error) ? new StartError(`${error.message}${adviceOn(error)}`) : error;
  }
  // What the file says about the cohort is how a venue begins; later only commands change it.
  if (isNew(venue) && cohort.allow.length > 0) {
    await new CohortControl(venue).change({
      stage: cohort.stage,
      allow: [...cohort.allow],
      disallow: [],
    });
  }
  return venue;
}

function isNew({ recovery }: Venue): boolean {
  return recovery.snapshotPosition === 0 && recovery.applied === 0;
}

function adviceOn(error: Error): string {
  if (!(error instanceof JournalLocked)) return "";
  return "; stop it, or choose another folder with --data";
}

function isKnown(error: unknown): error is Error {
  return (
    error instanceof ConfigRefused || error instanceof JournalError || error instanceof HistoryLost
  );
}
