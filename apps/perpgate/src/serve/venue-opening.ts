/** Opens the venue of the data folder; expected failures become one line for the operator. */

import type { BridgeConfig } from "@perpgate/bridge";
import { ClusterError } from "@perpgate/cluster";
import { type ExitDeadline, JournalError, JournalLocked, LogBehind } from "@perpgate/journal";
import { NotInUnits } from "@perpgate/protocol/core";
import {
  ClockRefused,
  ConfigRefused,
  DEFAULT_PARAMETERS,
  HistoryLost,
  IsAMirror,
  NotAMirror,
  type PromiseOptions,
  UnknownToRelease,
  Venue,
  type VenueLogger,
  venueConfigOf,
} from "@perpgate/venue";
import { isSystemError, StartError } from "../cli/start-error.js";
import { type ClusterLink, gatewayNameOf } from "../cluster/log-access.js";
import { attestationParameters, attestorKeysOf } from "./bridge/settings-bridge.js";
import { plainAddress } from "./cohort-control.js";
import type { Accepted } from "./options.js";
import { MIB, type Settings } from "./settings.js";

const DAY_MS = 86_400_000;

/** What the log records of the settings. */
export function venueTermsOf({ markets, risk }: Settings, bridge: BridgeConfig) {
  const parameters = { ...DEFAULT_PARAMETERS, ...risk, ...attestationParameters(bridge) };
  return {
    config: venueConfigOf(markets, parameters),
    attestors: attestorKeysOf(bridge),
    listing: markets,
  };
}

interface VenueExtras {
  /** What signs receipts and the transparency log. */
  readonly promises?: PromiseOptions;
  readonly cluster?: ClusterLink | undefined;
  /** Gives the start up. */
  readonly signal?: AbortSignal;
}

export async function openSettingsVenue(
  settings: Settings,
  bridge: BridgeConfig,
  directory: string,
  logger: VenueLogger,
  exitDeadline: ExitDeadline,
  accepted: Accepted = { loss: false, clock: false },
  { promises, cluster, signal }: VenueExtras = {},
): Promise<Venue> {
  const { cohort, snapshots, segmentMiB, history } = settings;
  const { hotDays, maxMiB } = history;
  try {
    return await Venue.open({
      directory,
      ...venueTermsOf(settings, bridge),
      // The initial cohort of a new venue; later only commands change it.
      cohort: cohort.stage,
      allow: cohort.allow.map(plainAddress),
      checkpoints: snapshots,
      retention: {
        hotMs: hotDays * DAY_MS,
        waitsForArchive: settings.archive?.postgres !== undefined,
        ...(maxMiB === undefined ? {} : { maxBytes: maxMiB * MIB }),
      },
      segmentBytes: segmentMiB * MIB,
      logger,
      exitDeadline,
      acceptLoss: accepted.loss,
      acceptClock: accepted.clock,
      ...(promises === undefined ? {} : { promises }),
      ...(signal === undefined ? {} : { signal }),
      ...(cluster === undefined
        ? {}
        : { name: gatewayNameOf(settings), openCoreLog: cluster.open }),
    });
  } catch (error) {
    throw isKnown(error) ? new StartError(`${error.message}${adviceOn(error)}`) : error;
  }
}

function adviceOn(error: Error): string {
  if (error instanceof JournalLocked) return "; stop it, or choose another folder with --data";
  if (error instanceof LogBehind) {
    return error.isWhole
      ? "; restore the log, or start once with --accept-loss to continue without the missing part"
      : "; restore the whole folder from a backup: the log was pruned, and cannot continue without its end";
  }
  if (error instanceof ClockRefused) {
    return "; set the clock, or start once with --accept-clock if it is right";
  }
  return "";
}

function isKnown(error: unknown): error is Error {
  return (
    error instanceof ClockRefused ||
    error instanceof ClusterError ||
    error instanceof ConfigRefused ||
    error instanceof IsAMirror ||
    error instanceof NotAMirror ||
    error instanceof NotInUnits ||
    error instanceof JournalError ||
    error instanceof HistoryLost ||
    error instanceof UnknownToRelease ||
    isSystemError(error)
  );
}
