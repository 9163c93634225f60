/** What a venue is opened with. */
import type { CohortStage, VenueConfig } from "@perpgate/engine";
import type { ExitDeadline } from "@perpgate/journal";
import type { AttestorKeys } from "./listing/attestor-keys.js";
import type { ListedMarket } from "./listing/listing.js";
import type { BootClock } from "./time/boot-clock.js";

/** Any structured logger; pino fits. */
export interface VenueLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface CheckpointOptions {
  /** A snapshot after so many commands. */
  readonly everyCommands: number;
  /** And after so much time, if there was a command. */
  readonly everyMs: number;
  /** Snapshots kept on disk. */
  readonly keep: number;
}

export const DEFAULT_CHECKPOINTS: CheckpointOptions = {
  everyCommands: 200_000,
  everyMs: 300_000,
  keep: 3,
};

export interface VenueOptions {
  /** The data folder, made if missing. */
  readonly directory: string;
  readonly config: VenueConfig;
  /** What the markets' integers mean, in the order of `config.markets`. */
  readonly listing: readonly ListedMarket[];
  /** Keys of the attestors whose votes go into the log; null where none will. */
  readonly attestors?: AttestorKeys | null;
  /** The stage of a venue that begins; later it changes by command alone. */
  readonly cohort: CohortStage;
  /** The list of a venue that begins: addresses, lower-case hex without `0x`. */
  readonly allow?: readonly string[];
  /** Unix milliseconds. */
  readonly clock?: () => number;
  /** Milliseconds that never go back. */
  readonly monotonic?: () => number;
  /** Real time, sleep included; that of the machine unless `clock` is another than its own. */
  readonly bootClock?: BootClock;
  /** Believes the clock at this start, however far it is ahead of the log. */
  readonly acceptClock?: boolean;
  /** Who writes, of the writers of one log. */
  readonly writer?: number;
  /** null: no second replica, no snapshots. */
  readonly checkpoints?: CheckpointOptions | null;
  /** false: time moves only by the ticks that are submitted. */
  readonly ticks?: boolean;
  readonly segmentBytes?: number;
  readonly logger?: VenueLogger;
  /**
   * Set by whichever thread of the venue fails, so that a watchdog ends the process also when the
   * main thread does not hear of the failure. Without it a failure is reported by `failed` alone.
   */
  readonly exitDeadline?: ExitDeadline;
  /**
   * Goes on with a log that has lost its end, as history, checkpoints or snapshots show. They are
   * kept in a folder; positions of acknowledged commands will be used again.
   */
  readonly acceptLoss?: boolean;
}

export const SILENT: VenueLogger = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
