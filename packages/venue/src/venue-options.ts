/** The options of `Venue.open`. */
import type { CohortStage, VenueConfig } from "@perpgate/engine";
import type { ExitDeadline, OpenCoreLog } from "@perpgate/journal";
import type { RetentionOptions } from "./history/retention.js";
import type { AttestorKeys } from "./listing/attestor-keys.js";
import type { ListedMarket } from "./listing/listing.js";
import type { LogKey } from "./receipts/log-key.js";
import type { BootClock } from "./time/boot-clock.js";
import type { WitnessSetting } from "./tlog/witness.js";

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

export interface PromiseOptions {
  readonly logKey: LogKey;
  /** False: acknowledgements carry no receipt; the transparency log stays. */
  readonly issueReceipts?: boolean;
  readonly witnesses?: readonly WitnessSetting[];
  /** Cosignatures that a checkpoint needs before it is published; default: none. */
  readonly required?: number;
  /** Milliseconds between two checkpoints, if blocks were sealed. */
  readonly checkpointMs?: number;
  /** Milliseconds after a start in which no checkpoint is signed unless a witness has answered. */
  readonly witnessWaitMs?: number;
  /** Whether this process signs checkpoints now; of the gateways of one venue only one does. */
  readonly isSigner?: () => boolean;
  /** Gives a published checkpoint to the venue's other gateways. */
  readonly announce?: (note: string) => void;
  /** Resolves once all is applied that any core has answered; undefined if there are no others. */
  readonly caughtUp?: () => Promise<void>;
}

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
  /** Random bytes of the log's id, of writers and of receipt keys; a sandbox gives seeded ones. */
  readonly random?: (bytes: number) => Uint8Array;
  /** Uptime including sleep; by default that of the machine, or none if `clock` is set. */
  readonly bootClock?: BootClock;
  /** Accepts the wall clock at this start, however far it is ahead of the log. */
  readonly acceptClock?: boolean;
  /** The core's name in a replicated log. */
  readonly name?: string;
  /** Connects to a replicated log, whose mirror the data folder's log is then: this venue leads, or stands by. */
  readonly openCoreLog?: OpenCoreLog;
  /** null: no snapshots. */
  readonly checkpoints?: CheckpointOptions | null;
  /** false: no slot clock; time moves only by submitted ticks. */
  readonly ticks?: boolean;
  readonly segmentBytes?: number;
  /** Rows of the history that are kept; by default all. */
  readonly retention?: RetentionOptions;
  /** Private streams resume from this many of the last commands at least; `OUTBOX_COMMANDS` by default. */
  readonly outboxCommands?: number;
  /**
   * With more records of the log than these to make rows of, the history is rebuilt while the venue runs;
   * 100,000 by default.
   */
  readonly waitedRecords?: number;
  /** Where log and history are written: in separate threads (the default), or in the caller's. */
  readonly commit?: "thread" | "inline";
  /** Receipts and the transparency log; undefined: neither. */
  readonly promises?: PromiseOptions;
  /**
   * Ends the replay of the log, and the wait for a replicated one: the start is given up, and the next
   * one continues.
   */
  readonly signal?: AbortSignal;
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

/** Whether the data folder's log is the mirror of a replicated one. */
export function isMirror({ openCoreLog }: VenueOptions): boolean {
  return openCoreLog !== undefined;
}
