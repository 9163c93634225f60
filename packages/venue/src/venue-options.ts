/** The options of `Venue.open`. */
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
  /** Commands between two snapshots. */
  readonly everyCommands: number;
  /** Longest time between two snapshots, if there was a command. */
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
  /** Units of the markets' integers, in the order of `config.markets`. */
  readonly listing: readonly ListedMarket[];
  /** Keys of the attestors whose votes go into the log; null for none. */
  readonly attestors?: AttestorKeys | null;
  /** The stage of a new venue; later only commands change it. */
  readonly cohort: CohortStage;
  /** The allowlist of a new venue: addresses, lower-case hex without `0x`. */
  readonly allow?: readonly string[];
  /** Unix milliseconds. */
  readonly clock?: () => number;
  /** Milliseconds that never go back. */
  readonly monotonic?: () => number;
  /** Uptime including sleep; by default that of the machine, or none if `clock` is set. */
  readonly bootClock?: BootClock;
  /** Accepts the wall clock at this start, however far it is ahead of the log. */
  readonly acceptClock?: boolean;
  /** Number of this writer, among the writers of one log. */
  readonly writer?: number;
  /** null: no second replica, no snapshots. */
  readonly checkpoints?: CheckpointOptions | null;
  /** false: no slot clock; time moves only by submitted ticks. */
  readonly ticks?: boolean;
  readonly segmentBytes?: number;
  readonly logger?: VenueLogger;
  /**
   * Set by any thread of the venue that fails, so that a watchdog ends the process even if the main
   * thread is blocked. Without it a failure is reported by `failed` alone.
   */
  readonly exitDeadline?: ExitDeadline;
  /**
   * Opens a log that has lost its end, as the history, checkpoints or snapshots show. These are
   * moved to a folder; seqs of lost acknowledged commands are used again.
   */
  readonly acceptLoss?: boolean;
}

export const SILENT: VenueLogger = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
