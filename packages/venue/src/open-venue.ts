/** Opens the parts of a venue in order of dependence, and closes what is open if a step fails. */
import type { Command } from "@perpgate/engine";
import { epochOf } from "@perpgate/engine/reading";
import type { ExitDeadline, FileJournal } from "@perpgate/journal";
import type { SnapshotNotice, SnapshotTaker } from "./checkpoint/snapshot-taker.js";
import type { History } from "./history/history.js";
import type { LeadSequencer } from "./lead-sequencer.js";
import { checkConfig, checkContinuation, checkSameVenue } from "./listing/config-change.js";
import type { Listing } from "./listing/listing.js";
import { refuseOtherKind } from "./mirror.js";
import { type OpenedLog, openLog } from "./open-log.js";
import { NotApplied } from "./pending-batches.js";
import type { LogKey } from "./receipts/log-key.js";
import { Promises } from "./receipts/promises.js";
import { newReceiptKey, refuseOtherLogKey } from "./receipts/receipt-key.js";
import type { ReceiptSigner } from "./receipts/receipt-signer.js";
import { NO_EVIDENCE } from "./record/record.js";
import { dataFolder } from "./recovery/data-folder.js";
import { type OpenData, openData, unlessAborted } from "./recovery/open-data.js";
import type { Recovered, RecoveryReport } from "./recovery/recover.js";
import type { ReplicaState } from "./recovery/replica-state.js";
import type { CommandObserver } from "./replica.js";
import { ReservesBook } from "./reserves/reserves-book.js";
import { reservesKeyOf } from "./reserves/reserves-key.js";
import type { WriterIdentity } from "./sequencer.js";
import type { Submissions } from "./submissions.js";
import { ClockRecorder, systemBootClock } from "./time/boot-clock.js";
import { openClock } from "./time/open-clock.js";
import { SlotClock } from "./time/slot-clock.js";
import type { VenueClock } from "./time/venue-clock.js";
import { isMirror, SILENT, type VenueOptions } from "./venue-options.js";
import { Views } from "./views/views.js";

export interface VenueParts {
  readonly journal: FileJournal;
  readonly history: History;
  readonly listing: Listing;
  readonly views: Views;
  readonly sequencer: Submissions;
  /** Present if the log is written by the core that leads. */
  readonly lead: LeadSequencer | undefined;
  readonly clock: VenueClock;
  readonly clockRecorder: ClockRecorder;
  readonly slotClock: SlotClock;
  /** What begins once the history has its store. */
  readonly later: Later;
  /** In the caller's thread. */
  readonly snapshots: SnapshotTaker | undefined;
  readonly promises: Promises | null;
  readonly reserves: ReservesBook | null;
  readonly observers: Set<CommandObserver>;
  readonly recovery: RecoveryReport;
  readonly failure: Failure;
  readonly state: ReplicaState;
}

export async function openVenue(options: VenueOptions): Promise<VenueParts> {
  checkConfig(options.config, options.listing, options.attestors ?? null);
  const failure = new Failure(options.exitDeadline);
  const live = new Live();
  const data = await openData(
    options,
    {
      // Not within the command that is applied: it may submit another one.
      onSnapshot: (notice) => queueMicrotask(() => live.onSnapshot(notice)),
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
  { journal, recovered, keeper }: OpenData,
  failure: Failure,
  live: Live,
): Promise<VenueParts> {
  const { logger = SILENT, signal } = options;
  const folder = dataFolder(options.directory);
  const observers = new Set<CommandObserver>();
  const { state, history, report, taker } = recovered;
  const { snapshotSeq: snapshotPosition, ...recovery } = report;
  const engineState = state.engine.state;
  const engineVersion = engineState.rules.version;
  logger.info({ engineVersion, snapshotPosition, ...recovery }, "recovered");
  const later = new Later();
  const begun: { log?: Promise<OpenedLog>; sequencer?: Submissions } = {};
  try {
    refuseOtherKind(journal, folder.journal, isMirror(options));
    refuseOtherVenue(options, recovered);
    const source = { engine: state.engine, listing: state.listing, history };
    const views = new Views(source);
    live.onCommand = (applied) => {
      views.onCommand(applied);
      for (const observer of observers) observer.onCommand(applied);
    };
    live.onBatchEnd = (end, batch) => {
      keeper?.onBatchEnd(end);
      for (const observer of observers) observer.onBatchEnd?.(end, batch);
    };
    // Opened below, once the log tells its time; the sequencer needs it only after that.
    const time: { clock?: VenueClock; slots?: SlotClock } = {};
    const { promises: promised } = options;
    const own: { key?: ReceiptSigner } = {};
    const receiptKeyOf = (logKey: LogKey): ReceiptSigner => {
      own.key ??= newReceiptKey(state.listing, logKey, options.random);
      return own.key;
    };
    const identity = (): WriterIdentity => ({
      name: options.name ?? SOLE_WRITER,
      ...(promised === undefined ? NO_RECEIPT_KEY : hexOf(receiptKeyOf(promised.logKey))),
    });
    const hooks = {
      onFailure: (error: Error) => failure.report(error),
      atPublish: () => time.slots?.due() ?? NOTHING,
      nowMs: () => time.clock?.nowMs() ?? engineState.timeMs,
      // Not within the claim that is applied.
      onLead: () => queueMicrotask(() => later.add(() => live.onLead())),
      onLeadLost: () => {
        logger.info({ epoch: epochOf(engineState) }, LEAD_LOST);
        for (const observer of observers) observer.onLeadLost?.();
      },
    };
    begun.log = openLog({ options, journal, recovered, identity, hooks });
    const log = await unlessAborted(begun.log, signal);
    const { sequencer, lead, others } = log;
    begun.sequencer = sequencer;
    failure.onReport = (error) => {
      logger.error({ err: error }, "the venue stops");
      sequencer.fail(error);
      history.halt();
    };
    await unlessAborted(log.start(), signal);
    refuseOtherVenue(options, recovered);
    if (promised !== undefined) {
      const name = options.name ?? SOLE_WRITER;
      await unlessAborted(
        refuseOtherLogKey(engineState, state.listing, promised.logKey, name),
        signal,
      );
    }
    const boot = options.bootClock ?? (options.clock === undefined ? systemBootClock : noBootClock);
    const clock = openClock(options, folder.clock, boot, engineState);
    const slotClock = new SlotClock({
      clock,
      monotonic: options.monotonic ?? (() => performance.now()),
      state: engineState,
      mayLeapAlone: () =>
        others === undefined || options.acceptClock === true || others.isClockShared === true,
      wake: () => sequencer.publishSoon(),
    });
    time.clock = clock;
    const beginning = log.begin(clock.nowMs());
    await (others === undefined ? beginning : unlessAborted(beginning, signal));
    const clockRecorder = new ClockRecorder(
      folder.clock,
      () => clock.nowMs(),
      boot,
      (error) => logger.warn({ err: error }, "the clock's record could not be written"),
    );
    const reservesKey = promised === undefined ? undefined : reservesKeyOf(promised.logKey);
    const promises =
      promised === undefined
        ? null
        : await Promises.start(
            { ...source, blocks: state.blocks },
            folder,
            // Of the cores of one venue the one that leads signs.
            {
              isSigner: () => sequencer.isLive,
              announce: (note) => others?.announce(note),
              ...(lead === undefined ? {} : { caughtUp: () => lead.caughtUp() }),
              ...promised,
            },
            receiptKeyOf(promised.logKey),
            logger,
          );
    const reserves =
      promises === null || reservesKey === undefined
        ? null
        : new ReservesBook({
            folder: folder.reserves,
            key: reservesKey.secret,
            listing: state.listing,
            state: engineState,
            promises,
            isProposer: () => sequencer.isLive,
            commit: ({ position, root, sumMicros, leaves }) => {
              const stampMs = clock.nowMs();
              const counted = { position, root, sumMicros, leaves };
              const command = { kind: "CommitReserves", stampMs, ...counted } as const;
              sequencer.submit(command, NO_EVIDENCE, () => undefined);
            },
            logger,
          });
    live.onSnapshot = (notice) => {
      if (notice.kind === "checkpoint") {
        const { checkpoint, bytes, elapsedMs } = notice;
        logger.info({ checkpoint, bytes, elapsedMs }, "snapshot taken");
      } else if (notice.kind === "unwritten") {
        logger.error({ reason: notice.message }, "no snapshot could be written");
      } else reserves?.onNotice(notice);
    };
    for (const notice of live.early.splice(0)) live.onSnapshot(notice);
    if (others !== undefined && promises !== null) {
      others.onAnnouncement = (text) => void promises.log.adopt(text);
    }
    if (promises !== null) observers.add(promises);
    live.onBatchEnd = (end, batch) => {
      promises?.receipts?.onBatchEnd();
      keeper?.onBatchEnd(end);
      for (const observer of observers) observer.onBatchEnd?.(end, batch);
    };
    if (options.ticks !== false) {
      time.slots = slotClock;
      slotClock.start();
    }
    if (promises !== null) later.add(() => promises.log.follow());
    if (reserves !== null && options.checkpoints !== null) {
      later.add(() => reserves.resume());
      live.onLead = () => reserves.onLead();
    }
    if (!history.isRebuilding) later.begin();
    // A failure is reported by the history.
    else void keeper?.live.then(() => later.begin()).catch(() => undefined);
    taker?.start();
    lead?.stand();
    return {
      journal,
      history,
      listing: state.listing,
      views,
      sequencer,
      lead,
      clock,
      clockRecorder,
      slotClock,
      later,
      snapshots: taker,
      promises,
      reserves,
      observers,
      recovery: report,
      failure,
      state,
    };
  } catch (error) {
    if (signal?.aborted === true) failure.ignore();
    // First: what the stream still delivers must not be applied to a history that closes.
    begun.sequencer?.fail(new NotApplied("stopped"));
    // Not awaited: a server that does not answer would delay it.
    void begun.log?.then((log) => log.close()).catch(() => undefined);
    later.cancel();
    taker?.stop();
    if (signal?.aborted === true) {
      // The history waits for a mirror that gets nothing more.
      await history.abandon();
    }
    // It rejects if it was halted by the failure, which is the error to report.
    await history.close().catch(() => undefined);
    throw error;
  }
}

const NOTHING: readonly Command[] = [];

const LEAD_LOST = "another core leads; this one stands by";

/** The name in a log on this machine's disk. */
const SOLE_WRITER = "venue";
const NO_RECEIPT_KEY = { receiptKey: "", certificate: "" };

function hexOf({ publicKey, certificate }: ReceiptSigner): typeof NO_RECEIPT_KEY {
  return {
    receiptKey: Buffer.from(publicKey).toString("hex"),
    certificate: Buffer.from(certificate).toString("hex"),
  };
}

/** A start on a replicated log does not apply its configuration, so that may be an older or newer one. */
function refuseOtherVenue(options: VenueOptions, { state }: Recovered): void {
  const current = state.engine.state.config;
  if (current === null) return;
  const { config, listing } = options;
  const check = isMirror(options) ? checkSameVenue : checkContinuation;
  check({ config: current, listing: state.listing.markets }, config, listing);
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
  /** Notices of the replay, until somebody takes them. */
  readonly early: SnapshotNotice[] = [];
  onSnapshot: (notice: SnapshotNotice) => void = (notice) => this.early.push(notice);
  /** This core has begun to lead. */
  onLead: () => void = () => undefined;
}

/** What needs the history's store, which may still be rebuilt when the venue opens. */
class Later {
  private hasBegun = false;
  private readonly steps: (() => void)[] = [];

  /** Runs the step now or, if the store is not there yet, then. */
  add(step: () => void): void {
    if (this.hasBegun) step();
    else this.steps.push(step);
  }

  begin(): void {
    this.hasBegun = true;
    for (const step of this.steps.splice(0)) step();
  }

  cancel(): void {
    this.steps.splice(0);
  }
}
