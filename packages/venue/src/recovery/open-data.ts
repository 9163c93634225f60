/**
 * Opens a data folder, up to a replica that has applied the whole log:
 *
 *   0. version   a log of another release is refused
 *   1. journal   locked and inspected
 *   2. history   opened; its progress, the checkpoints and the snapshots are compared with the log's
 *                end. A log that ends before one of them is refused, unless the loss is accepted; then
 *                everything that shows the loss is moved to a folder (given-up.ts).
 *   3. journal   repaired: a torn commit is copied and cut
 *   4. replica   newest snapshot, then the log. A history that turns out to be damaged is set aside and
 *                rebuilt; if the log was pruned it stays as it is, and the start is refused.
 *
 * Unless the caller's thread makes the rows, the store's thread does (store-keeper.ts), and step 4 waits until
 * it has reached the log's end. A history that lacks much of the log is not waited for.
 *
 * Nothing is changed before step 2 has passed.
 */
import {
  type FileJournal,
  LOG_ID_BYTES,
  type Loss,
  openJournal,
  type SpareStatus,
} from "@perpgate/journal";
import { HOUR_MS } from "@perpgate/protocol/rules";
import { readArchived } from "../archive/archive-note.js";
import type { SnapshotTerms } from "../checkpoint/snapshot-taker.js";
import { OUTBOX_COMMANDS } from "../history/change-projection.js";
import { FollowedHistory } from "../history/followed-history.js";
import { FoundHistory } from "../history/found-history.js";
import {
  adoptHistory,
  type HistoryStore,
  newHistory,
  type OpenedStore,
} from "../history/history-store.js";
import type { CommandObserver } from "../replica.js";
import { reservesKeyOf } from "../reserves/reserves-key.js";
import { HistoryDamaged, HistoryLost } from "../venue-errors.js";
import {
  DEFAULT_CHECKPOINTS,
  SILENT,
  type VenueLogger,
  type VenueOptions,
} from "../venue-options.js";
import { type DataFolder, dataFolder } from "./data-folder.js";
import { giveUp } from "./given-up.js";
import { logProofs } from "./log-proofs.js";
import { refuseUnknownLog } from "./log-version.js";
import { type Recovered, type RecoveryEvents, recover } from "./recover.js";
import { type FollowerData, removeSavedStates, savedStates } from "./store-follower.js";
import { StoreKeeper } from "./store-keeper.js";

export interface OpenData {
  readonly journal: FileJournal;
  readonly recovered: Recovered;
  /** Of a history whose rows the store's thread makes. */
  readonly keeper: StoreKeeper | undefined;
}

/** Records that a history may lack without a rebuild: some seconds of replay. */
const WAITED_RECORDS = 100_000;

export async function openData(
  options: VenueOptions,
  events: RecoveryEvents,
  observers: readonly CommandObserver[],
): Promise<OpenData> {
  const { logger = SILENT } = options;
  const folder = dataFolder(options.directory);
  refuseUnknownLog(folder.journal);
  const { journal, found } = await openLog(options, folder);
  for (const cut of journal.recovery.cut) {
    logger.warn({ cut }, "a torn commit was cut from the log");
  }
  try {
    const { logId, first } = journal.recovery;
    const nowMs = (options.clock ?? Date.now)();
    const opened = adoptHistory(found, logId, first, nowMs);
    warnOfRebuild(options, opened);
    const saved = savedStates(folder, logId);
    const mayLack = options.waitedRecords ?? WAITED_RECORDS;
    /** A pruned log cannot make the rows again, so its history is waited for. */
    const lacksMuch = ({ held }: HistoryStore) =>
      first.batch === 0 && journal.end.record - held.record > mayLack;
    const isLater = lacksMuch(opened.store);
    const isFollowed = isLater || options.commit !== "inline";
    const snapshots = snapshotTermsOf(options, folder);
    const { outboxCommands, retention } = options;
    const archived = () => readArchived(folder);
    const replay = (store: HistoryStore) => {
      if (isFollowed) store.environment.close();
      return recover(
        journal,
        folder.journal,
        isFollowed ? undefined : store,
        saved,
        store.held,
        { ...events, commit: options.commit, outboxCommands, retention, archived },
        snapshots,
        observers,
        (seq, record, records) => logger.info({ position: seq, record, records }, "recovering"),
        options.signal,
      );
    };
    const recovered = await replay(opened.store).catch((error: unknown) => {
      if (!(error instanceof HistoryDamaged)) throw error;
      if (first.batch > 0) throw new HistoryLost(first, error.message);
      const rebuilt = newHistory(
        folder.history,
        logId,
        { kind: "damaged", reason: error.message },
        nowMs,
      );
      warnOfRebuild(options, rebuilt);
      return replay(rebuilt.store);
    });
    const { history } = recovered;
    if (!(history instanceof FollowedHistory)) {
      removeSavedStates(saved);
      return { journal, recovered, keeper: undefined };
    }
    const { timeMs } = recovered.state.engine.state;
    const data: FollowerData = {
      folder,
      logId,
      first,
      ...recovered.end,
      outboxCommands: outboxCommands ?? OUTBOX_COMMANDS,
      retention,
      timeMs,
      commit: options.commit ?? "thread",
      // The hours before were counted, or are not committed any more.
      snapshots: snapshots && { ...snapshots, countsFromMs: timeMs - HOUR_MS },
      saveEvery: (options.checkpoints ?? DEFAULT_CHECKPOINTS).everyCommands,
      exitDeadline: options.exitDeadline?.memory,
    };
    const keeper = new StoreKeeper(data, history, logger, (notice) => events.onSnapshot(notice));
    if (isLater) {
      const { record, batch } = data;
      const text = "the history is rebuilt while the venue runs";
      logger.warn({ records: record, batch }, text);
    } else {
      keeper.hurry();
      await unlessAborted(keeper.live, options.signal).catch(async (error: unknown) => {
        await history.abandon();
        throw error;
      });
    }
    return { journal, recovered, keeper };
  } catch (error) {
    found.close();
    await journal.close();
    throw error;
  }
}

function snapshotTermsOf(
  { checkpoints = DEFAULT_CHECKPOINTS, promises }: VenueOptions,
  folder: DataFolder,
): SnapshotTerms | undefined {
  if (checkpoints === null) return undefined;
  const reservesKey = promises === undefined ? undefined : reservesKeyOf(promises.logKey);
  return { folder, options: checkpoints, reservesKey, countsFromMs: 0 };
}

/** Steps 1 to 3. On return the history is open, if there is a usable one. */
async function openLog(
  options: VenueOptions,
  folder: DataFolder,
): Promise<{ journal: FileJournal; found: FoundHistory }> {
  const { logger = SILENT, clock = Date.now } = options;
  let found: FoundHistory | undefined;
  const acceptLoss = async (loss: Loss): Promise<void> => {
    // Before anything moves: a pruned log cannot rebuild the history, so the venue could not start.
    if (loss.first.batch > 0) throw new HistoryLost(loss.first, "it is ahead of the log");
    found?.close();
    const keptIn = giveUp(folder, loss, clock());
    found = FoundHistory.find(folder.history);
    const { end, proofs } = loss;
    logger.error({ end, proofs, keptIn }, "LOSS ACCEPTED: what the log has lost is given up");
  };
  try {
    const journal = await openJournal({
      directory: folder.journal,
      verify: "tail",
      onSpare: (status) => reportSpare(status, logger),
      ...(options.exitDeadline === undefined ? {} : { exitDeadline: options.exitDeadline.memory }),
      ...(options.segmentBytes === undefined ? {} : { segmentBytes: options.segmentBytes }),
      ...(options.commit === undefined ? {} : { commit: options.commit }),
      ...(options.random === undefined ? {} : { newLogId: options.random(LOG_ID_BYTES) }),
      proofs: async (logId) => {
        found = FoundHistory.find(folder.history);
        return logProofs(folder, found.row, logId);
      },
      ...(options.acceptLoss === true ? { giveUp: acceptLoss } : {}),
    });
    if (found === undefined) throw new Error("the journal was opened without its proofs");
    return { journal, found };
  } catch (error) {
    found?.close();
    throw error;
  }
}

/** Warns before the segment is needed: without it the venue would stop. */
function reportSpare({ failures, problem }: SpareStatus, logger: VenueLogger): void {
  if (problem !== undefined) {
    const reason = problem.message;
    logger.warn({ reason, failures }, "the next segment of the log could not be allocated");
  } else if (failures > 0) {
    logger.info({ failures }, "the next segment of the log is allocated");
  }
}

function warnOfRebuild({ logger = SILENT }: VenueOptions, { discarded }: OpenedStore): void {
  if (discarded !== undefined) logger.warn({ ...discarded }, "the history is rebuilt from the log");
}

/** Rejects once the signal aborts; `work` goes on. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
