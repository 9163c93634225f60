/** Opens the parts of a venue in order of dependence, and closes what is open if a step fails. */
import { ENGINE_VERSION, isKind, REFUSALS, TICK_MS } from "@perpgate/engine";
import type { VenueState } from "@perpgate/engine/reading";
import type { ExitDeadline, FileJournal } from "@perpgate/journal";
import { Checkpointer } from "./checkpoint/checkpointer.js";
import { cohortCommands } from "./cohort-commands.js";
import type { History } from "./history/history.js";
import { replacedAttestors } from "./listing/attestor-keys.js";
import { checkConfig, checkContinuation, isSameConfig } from "./listing/config-change.js";
import { type Listing, listingEvidence } from "./listing/listing.js";
import { OPERATOR_EXPIRY_MS } from "./operator-expiry.js";
import { NO_EVIDENCE } from "./record/record.js";
import { dataFolder } from "./recovery/data-folder.js";
import { type OpenData, openData } from "./recovery/open-data.js";
import type { Recovered, RecoveryReport } from "./recovery/recover.js";
import type { Applied, CommandObserver } from "./replica.js";
import { Sequencer } from "./sequencer.js";
import { ClockRecorder, systemBootClock } from "./time/boot-clock.js";
import { openClock } from "./time/open-clock.js";
import { SlotClock } from "./time/slot-clock.js";
import type { VenueClock } from "./time/venue-clock.js";
import { ConfigRefused } from "./venue-errors.js";
import { DEFAULT_CHECKPOINTS, SILENT, type VenueOptions } from "./venue-options.js";
import { Views } from "./views/views.js";

export interface VenueParts {
  readonly journal: FileJournal;
  readonly history: History;
  readonly listing: Listing;
  readonly views: Views;
  readonly sequencer: Sequencer;
  readonly clock: VenueClock;
  readonly clockRecorder: ClockRecorder;
  readonly slotClock: SlotClock;
  readonly checkpointer: Checkpointer | undefined;
  readonly observers: Set<CommandObserver>;
  readonly recovery: RecoveryReport;
  readonly failure: Failure;
}

export async function openVenue(options: VenueOptions): Promise<VenueParts> {
  checkConfig(options.config, options.listing, options.attestors ?? null);
  const failure = new Failure(options.exitDeadline);
  const live = new Live();
  const data = await openData(
    options,
    {
      onDurable: (held) => live.onDurable(held),
      onFailure: (error) => failure.report(error),
      exitDeadline: options.exitDeadline?.memory,
    },
    [live],
  );
  try {
    return await openWithin(options, data, failure, live);
  } catch (error) {
    await data.journal.close();
    throw error;
  }
}

async function openWithin(
  options: VenueOptions,
  { journal, recovered }: OpenData,
  failure: Failure,
  live: Live,
): Promise<VenueParts> {
  const { logger = SILENT } = options;
  const folder = dataFolder(options.directory);
  const observers = new Set<CommandObserver>();
  const { state, history, replica, report } = recovered;
  const { snapshotSeq: snapshotPosition, ...recovery } = report;
  const engineVersion = state.engine.state.rules.version;
  logger.info({ engineVersion, snapshotPosition, ...recovery }, "recovered");
  try {
    if (state.engine.state.config !== null) {
      const current = { config: state.engine.state.config, listing: state.listing.markets };
      checkContinuation(current, options.config, options.listing);
    }
    const source = { engine: state.engine, listing: state.listing, history };
    const views = new Views(source);
    live.onCommand = (applied) => {
      views.onCommand(applied);
      for (const observer of observers) observer.onCommand(applied);
    };
    live.onBatchEnd = (end) => {
      for (const observer of observers) observer.onBatchEnd?.(end);
    };
    const sequencer = new Sequencer(journal, replica, options.writer ?? 0, (error) =>
      failure.report(error),
    );
    failure.onReport = (error) => {
      logger.error({ err: error }, "the venue stops");
      sequencer.fail(error);
      history.halt();
    };
    await sequencer.start(recovered.end);
    const boot = options.bootClock ?? (options.clock === undefined ? systemBootClock : noBootClock);
    const clock = openClock(options, folder.clock, boot, state.engine.state);
    const stampMs = clock.nowMs();
    await begin(options, recovered, sequencer, stampMs);
    await beginList(options, state.engine.state, sequencer, stampMs);
    const slotClock = new SlotClock(clock, state.engine.state.lastTickMs, (command) =>
      sequencer.submit(command, NO_EVIDENCE),
    );
    const clockRecorder = new ClockRecorder(
      folder.clock,
      () => clock.nowMs(),
      boot,
      (error) => logger.warn({ err: error }, "the clock's record could not be written"),
    );
    const checkpoints =
      options.checkpoints === undefined ? DEFAULT_CHECKPOINTS : options.checkpoints;
    const checkpointer =
      checkpoints === null
        ? undefined
        : new Checkpointer({
            folder,
            logId: journal.recovery.logId,
            options: checkpoints,
            history,
            logger,
            onFault: (error) => failure.report(error),
            exitDeadline: options.exitDeadline?.memory,
          });
    live.onDurable = (held) => checkpointer?.follow(held);
    if (options.ticks !== false) slotClock.start();
    return {
      journal,
      history,
      listing: state.listing,
      views,
      sequencer,
      clock,
      clockRecorder,
      slotClock,
      checkpointer,
      observers,
      recovery: report,
      failure,
    };
  } catch (error) {
    await history.close();
    throw error;
  }
}

/** For a test that sets its own clock: the machine's uptime says nothing about it. */
const noBootClock = (): undefined => undefined;

/** Collects the failures of all parts; only the first counts. */
export class Failure {
  readonly promise: Promise<Error>;
  onReport: (error: Error) => void = () => undefined;
  private resolve: (error: Error) => void = () => undefined;
  private isReported = false;

  constructor(private readonly exitDeadline?: ExitDeadline) {
    this.promise = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  /** From now on threads end because the process does: not a failure. */
  ignore(): void {
    this.isReported = true;
  }

  report(error: Error): void {
    if (this.isReported) return;
    this.isReported = true;
    // First: `onReport` writes to a log stream that may block.
    this.exitDeadline?.fail(error.message);
    this.onReport(error);
    this.resolve(error);
  }
}

/** Observers of the live replica. No-ops during recovery. */
class Live implements CommandObserver {
  onCommand: CommandObserver["onCommand"] = () => undefined;
  onBatchEnd: NonNullable<CommandObserver["onBatchEnd"]> = () => undefined;
  onDurable: (held: { readonly batch: number; readonly record: number }) => void = () => undefined;
}

/** Genesis on an empty log; otherwise Resume, and Configure if the configuration has changed. */
async function begin(
  { config, listing, cohort, attestors = null }: VenueOptions,
  { state }: Recovered,
  sequencer: Sequencer,
  stampMs: number,
): Promise<void> {
  const { engine } = state;
  const evidence = listingEvidence(listing, attestors);
  let refusal = "";
  if (engine.state.config === null) {
    const genesis = {
      kind: "Genesis",
      stampMs,
      config,
      cohort,
      engineVersion: ENGINE_VERSION,
    } as const;
    await sequencer.submitted(genesis, evidence, () => undefined);
  } else {
    await sequencer.submitted({ kind: "Resume", stampMs }, NO_EVIDENCE, () => undefined);
    const current = { config: engine.state.config, listing: state.listing };
    if (!isSameConfig(current, config, listing, attestors)) {
      const replaced = replacedAttestors(state.listing.attestors, attestors);
      const expiresAtMs = stampMs + OPERATOR_EXPIRY_MS;
      const configure = { kind: "Configure", stampMs, expiresAtMs, config } as const;
      await sequencer.submitted(
        replaced.length === 0 ? configure : { ...configure, replacedAttestors: replaced },
        evidence,
        (applied) => {
          refusal = refusalIn(applied);
        },
      );
    }
  }
  const taken = engine.state.config;
  const now = { config: taken ?? config, listing: state.listing };
  if (taken !== null && isSameConfig(now, config, listing, attestors)) return;
  throw new ConfigRefused(
    "configuration_invalid",
    refusal === "operator_rate_limit"
      ? "ten operator commands, starts with a new configuration included, were executed within the " +
          "last minute; wait a minute, or start with the configuration of before"
      : `the engine refused the configuration ${refusal}`.trimEnd(),
  );
}

/** The engine's reason for refusing the command; empty if it was executed. */
function refusalIn({ events }: Applied): string {
  const refused = events.decode().find((event) => isKind(event, "CommandRefused"));
  return refused === undefined ? "" : REFUSALS[refused.refusal]!;
}

/**
 * Submits the configured allowlist of a new venue. A long list needs several commands, and a crash
 * can come between any two. So until the first block is sealed every start submits the whole list
 * again and removes addresses that an earlier start left behind; then it seals the first block. After
 * that only operator commands change the list.
 */
async function beginList(
  { cohort: stage, allow }: VenueOptions,
  state: VenueState,
  sequencer: Sequencer,
  stampMs: number,
): Promise<void> {
  if (allow === undefined || state.totals.block > 1) return;
  const wanted = new Set(allow);
  const disallow = [...state.allowlist].filter((address) => !wanted.has(address));
  if (wanted.size > 0 || disallow.length > 0) {
    for (const command of cohortCommands({ stage, allow, disallow }, stampMs)) {
      await sequencer.submitted(command, NO_EVIDENCE, () => undefined);
    }
  }
  const slot = Math.floor(state.timeMs / TICK_MS) + 1;
  await sequencer.submitted({ kind: "Tick", slot }, NO_EVIDENCE, () => undefined);
}
