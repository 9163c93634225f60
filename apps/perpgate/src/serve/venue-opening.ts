/** Opens the venue of the data folder; expected failures become one line for the operator. */

import type { BridgeConfig } from "@perpgate/bridge";
import { type ExitDeadline, JournalError, JournalLocked, LogBehind } from "@perpgate/journal";
import {
  ClockRefused,
  ConfigRefused,
  DEFAULT_PARAMETERS,
  HistoryLost,
  UnknownToRelease,
  Venue,
  type VenueLogger,
  venueConfigOf,
} from "@perpgate/venue";
import { StartError } from "../cli/start-error.js";
import { attestationParameters, attestorKeysOf } from "./bridge/settings-bridge.js";
import { plainAddress } from "./cohort-control.js";
import type { Accepted } from "./options.js";
import type { Settings } from "./settings.js";

export async function openSettingsVenue(
  settings: Settings,
  bridge: BridgeConfig,
  directory: string,
  logger: VenueLogger,
  exitDeadline: ExitDeadline,
  accepted: Accepted = { loss: false, clock: false },
): Promise<Venue> {
  const { markets, risk, cohort, snapshots } = settings;
  try {
    return await Venue.open({
      directory,
      config: venueConfigOf(markets, {
        ...DEFAULT_PARAMETERS,
        ...risk,
        ...attestationParameters(bridge),
      }),
      attestors: attestorKeysOf(bridge),
      listing: markets,
      // The initial cohort of a new venue; later only commands change it.
      cohort: cohort.stage,
      allow: cohort.allow.map(plainAddress),
      checkpoints: snapshots,
      logger,
      exitDeadline,
      acceptLoss: accepted.loss,
      acceptClock: accepted.clock,
    });
  } catch (error) {
    throw isKnown(error) ? new StartError(`${error.message}${adviceOn(error)}`) : error;
  }
}

function adviceOn(error: Error): string {
  if (error instanceof JournalLocked) return "; stop it, or choose another folder with --data";
  if (error instanceof LogBehind) {
    return "; restore the log, or start once with --accept-loss to continue without the missing part";
  }
  if (error instanceof ClockRefused) {
    return "; set the clock, or start once with --accept-clock if it is right";
  }
  return "";
}

function isKnown(error: unknown): error is Error {
  return (
    error instanceof ClockRefused ||
    error instanceof ConfigRefused ||
    error instanceof JournalError ||
    error instanceof HistoryLost ||
    error instanceof UnknownToRelease ||
    // System errors, such as no space, no access or a failing disk, need no stack.
    (error instanceof Error && "syscall" in error)
  );
}
