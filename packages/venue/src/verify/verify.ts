/**
 * Verification: replays the whole log of a data folder on a new engine and compares everything else in
 * the folder with it (stored-claims.ts) and, on request, checks all signatures (evidence-check.ts). It
 * takes no lock and writes nothing. Next to a live venue it verifies what was there when it began.
 */
import { audit, EVENT } from "@perpgate/engine";
import {
  JournalDamaged,
  JournalError,
  LOG_START,
  type LogSeq,
  type LogState,
  nodeDisk,
  SegmentReader,
} from "@perpgate/journal";
import type { NoteKey, WitnessPolicy } from "@perpgate/protocol/receipts";
import type { SealedBlock } from "../blocks/block-header.js";
import { decodeRecord, RecordUnreadable } from "../record/record.js";
import { type DataFolder, dataFolder } from "../recovery/data-folder.js";
import { refuseUnknownLog } from "../recovery/log-version.js";
import { newReplicaState, observe, type ReplicaState } from "../recovery/replica-state.js";
import { type Applied, ReplayFailed, Replica } from "../replica.js";
import type { ReservesKey } from "../reserves/reserves-key.js";
import { HistoryDamaged } from "../venue-errors.js";
import { CheckpointCheck } from "./checkpoint-check.js";
import { EvidenceCheck, type RecoverWallet } from "./evidence-check.js";
import { type FolderKeys, folderKeys } from "./folder-keys.js";
import { PromiseCheck, type PromiseReport } from "./promise-check.js";
import { prunedBlocksFault, surplusFault } from "./pruned-blocks.js";
import { ReservesCheck, type ReservesReport, reservesKeyIn } from "./reserves-check.js";
import { inspectStart, startingPoint, wasPruned } from "./starting-point.js";
import { type SignedClaim, StoredClaims, signedClaim } from "./stored-claims.js";
import { movedFault, replacementFault } from "./vote-check.js";

export interface VerifyOptions {
  /** Checks every signature, using this to recover the wallet that signed a message. */
  readonly signatures?: RecoverWallet;
  readonly onProgress?: (progress: VerifyProgress) => void;
  /** The log's key that you pinned: signed checkpoints must be by it, or by a successor. */
  readonly logKey?: NoteKey;
  /** Signed checkpoints that you kept: the log must continue each. */
  readonly checkpoints?: readonly string[];
  /** Which witnesses must have cosigned each of them; needs `logKey`. */
  readonly witnesses?: WitnessPolicy;
  /** Of the folder that this one is a copy of, read before the copy was made: a copy has none. */
  readonly signed?: SignedClaim;
}

export interface VerifyProgress {
  readonly seq: number;
  readonly record: number;
  readonly records: number;
}

interface ReportedFault {
  /** The seq of the command; null if the log is damaged so that no command can be read. */
  readonly position: number | null;
  readonly reason: string;
}

export interface VerifyReport {
  /** The first fault in log order, or null: everything agrees. */
  readonly fault: ReportedFault | null;
  /** Seq after which the replay began: 0, or that of a snapshot if the log was pruned. */
  readonly from: number;
  readonly commands: number;
  readonly blocks: number;
  readonly lastBlockHash: string | null;
  /** Claims that agree. */
  readonly checkpoints: number;
  readonly snapshots: number;
  readonly acknowledgements: number;
  /** Rows of the history, acknowledgements included. */
  readonly historyRows: number;
  /** Lines of checkpoints.jsonl that are no checkpoint and were skipped. */
  readonly badCheckpointLines: number;
  readonly receipts: PromiseReport;
  readonly reserves: ReservesReport;
  /** With `signatures`. */
  readonly orderSignatures: number;
  readonly sessions: number;
  readonly voteSignatures: number;
  /** Seqs of sign-ins that no key of the address signed: only the chain of a contract wallet can confirm. */
  readonly notRecheckable: readonly number[];
  /** Seqs of sign-ins whose message has opened a session before: a clock was behind the log's time, or forged. */
  readonly repeatedMessages: readonly number[];
  /** Signatures by session keys that only the removed part of a pruned log had. */
  readonly prunedKeySignatures: number;
}

const PROGRESS_EVERY_MS = 500;
/** For a log that its venue prunes while it is read. */
const MAX_TRIES = 5;

export async function verify(
  directory: string,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  const folder = dataFolder(directory);
  refuseUnknownLog(folder.journal);
  for (let tries = 1; ; tries++) {
    const log = inspectStart(folder.journal);
    const isPruned = () => tries < MAX_TRIES && wasPruned(folder.journal, log);
    try {
      const report = await verifyLog(folder, log, options);
      if (report.fault === null || !isPruned()) return report;
    } catch (error) {
      if (!isPruned()) throw error;
    }
  }
}

async function verifyLog(
  folder: DataFolder,
  log: LogState | JournalDamaged,
  options: VerifyOptions,
): Promise<VerifyReport> {
  if (log instanceof JournalDamaged) {
    // Read from the beginning until the damage shows.
    const reader = new SegmentReader(nodeDisk, folder.journal, LOG_START);
    const claims = StoredClaims.none(folder);
    const verification = new Verification(newReplicaState(), claims, options, NO_KEYS);
    return verification.run(reader, ENDLESS, log);
  }
  const start = startingPoint(folder.journal, log.logId, log.first);
  const { signed = signedClaim(folder) } = options;
  const keys = await folderKeys(folder, options.logKey, signed);
  const claims = await StoredClaims.open(folder, log, signed);
  try {
    // After the claims were read: everything a live venue had claimed by then is in its log.
    const now = inspectStart(folder.journal);
    const { end } = now instanceof JournalDamaged ? log : now;
    claims.begin(start.state, start.from.batch);
    const salts = reservesKeyIn(folder);
    const verification = new Verification(start.state, claims, options, keys, salts);
    if (log.first.batch < start.from.batch) {
      verification.readUnreplayed(
        new SegmentReader(nodeDisk, folder.journal, log.first),
        start.from,
      );
    }
    const reader = new SegmentReader(nodeDisk, folder.journal, start.from);
    return await verification.run(reader, end);
  } finally {
    await claims.close();
  }
}

const NO_KEYS: FolderKeys = { pinned: [], fault: null };
const ENDLESS: LogSeq = { batch: Number.POSITIVE_INFINITY, record: Number.POSITIVE_INFINITY };

class Verification {
  private readonly evidence: EvidenceCheck | undefined;
  private readonly from: number;
  private blocks = 0;
  private lastBlock: SealedBlock | undefined;
  private fault: ReportedFault | null = null;
  private readonly promises: PromiseCheck;
  private readonly reserves: ReservesCheck;
  private readonly checkpoints: CheckpointCheck;

  constructor(
    private readonly state: ReplicaState,
    private readonly claims: StoredClaims,
    private readonly options: VerifyOptions,
    keys: FolderKeys,
    reservesKey?: ReservesKey,
  ) {
    this.from = state.engine.seq;
    this.promises = new PromiseCheck(keys.pinned);
    this.reserves = new ReservesCheck(state, reservesKey);
    const { signatures, checkpoints = [], witnesses } = options;
    this.checkpoints = new CheckpointCheck(claims.signed, checkpoints, keys.pinned, witnesses);
    if (keys.fault !== null) this.fault = { position: null, reason: keys.fault };
    this.evidence =
      signatures === undefined ? undefined : new EvidenceCheck(signatures, this.from > 0);
  }

  /** For a pruned log: what was kept of it before the snapshot that the replay begins with. */
  readUnreplayed(reader: SegmentReader, until: LogSeq): void {
    try {
      for (let batch = reader.next(until.batch); batch !== undefined; ) {
        for (const record of batch.records) decodeRecord(record);
        batch = reader.next(until.batch);
      }
    } catch (error) {
      if (!(error instanceof JournalError || error instanceof RecordUnreadable)) throw error;
      this.fault ??= {
        position: null,
        reason: `before position ${this.from + 1}: ${error.message}`,
      };
    } finally {
      reader.close();
    }
  }

  /** `damage` was found by the inspection of the whole log. */
  async run(reader: SegmentReader, end: LogSeq, damage?: JournalDamaged): Promise<VerifyReport> {
    const replica = new Replica(this.state.engine, [
      { onCommand: (applied) => this.onCommand(applied) },
    ]);
    let shownAt = performance.now();
    try {
      await this.beginFromSnapshot(reader.seq);
      while (this.fault === null) {
        const batch = reader.next(end.batch);
        if (batch === undefined) break;
        replica.applyBatch(batch);
        this.note(this.claims.placeFault(reader.seq, this.state, this.lastBlock));
        await this.evidence?.settle();
        if (performance.now() - shownAt < PROGRESS_EVERY_MS) continue;
        shownAt = performance.now();
        const { record } = reader.seq;
        this.options.onProgress?.({ seq: replica.seq, record, records: end.record });
        // Lets the event loop print the progress.
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (this.fault === null) await this.atEnd(end);
    } catch (error) {
      this.fault ??= faultOf(error, replica.seq, damage);
    } finally {
      reader.close();
    }
    await this.evidence?.settle(0);
    return this.report();
  }

  /** For a pruned log: compares the starting state and the blocks before, and adds its sessions' keys. */
  private async beginFromSnapshot(place: LogSeq): Promise<void> {
    if (this.from === 0) return;
    const { tables, historyBefore } = this.claims;
    if (tables !== undefined) {
      const onBlock = (block: SealedBlock) => this.checkpoints.onBlock(block);
      this.note(await prunedBlocksFault(tables, this.state, historyBefore, onBlock));
    }
    this.note(this.claims.placeFault(place, this.state, undefined));
    for (const session of this.state.engine.state.sessions.all()) {
      this.evidence?.addSession(session, this.claims.sessionRow(session.number));
    }
  }

  private onCommand(applied: Applied): void {
    const { command, events } = applied;
    const before = this.state.listing.attestors;
    const sealed = observe(this.state, applied);
    this.note(this.promises.onCommand(applied, sealed, this.state.listing.venueId));
    if (sealed !== null) {
      this.note(this.checkpoints.onBlock(sealed));
      this.note(this.claims.splitBlockFault(sealed, this.from));
      this.blocks++;
      this.lastBlock = sealed;
    }
    this.note(this.claims.commandFault(applied, this.state.blocks.currentNumber, sealed));
    const { words, length } = events;
    if (command.kind === "Configure" && length > 0 && words[0] !== EVENT.CommandRefused) {
      const after = this.state.listing.attestors;
      this.note(replacementFault(command, before, after));
      this.note(movedFault(before, after, this.state.engine.state));
    }
    this.note(this.reserves.onCommand(applied));
    this.evidence?.onCommand(applied, this.state);
  }

  private async atEnd(end: LogSeq): Promise<void> {
    this.evidence?.atEnd(this.state.engine.seq);
    const faults = audit(this.state.engine);
    this.note(faults.length === 0 ? null : `the audit found: ${faults.join("; ")}`);
    this.note(this.claims.endFault(end, this.state.engine.seq));
    const { tables } = this.claims;
    if (this.from > 0 && tables !== undefined) {
      this.note(surplusFault(tables, this.state.blocks.open().number - 1, this.state.engine.seq));
    }
    this.note(await this.checkpoints.endFault());
  }

  private note(reason: string | null): void {
    if (reason === null || this.fault !== null) return;
    this.fault = { position: this.state.engine.seq, reason };
  }

  private report(): VerifyReport {
    const forged = this.evidence?.firstFault;
    const isFirst = forged !== undefined && forged.position <= (this.fault?.position ?? Infinity);
    return {
      fault: isFirst ? forged : this.fault,
      from: this.from,
      commands: this.state.engine.seq - this.from,
      blocks: this.blocks,
      lastBlockHash: this.lastBlock?.hash.toString("hex") ?? null,
      checkpoints: this.claims.checkpoints,
      snapshots: this.claims.snapshots,
      acknowledgements: this.claims.acknowledgements,
      historyRows: this.claims.historyRows,
      badCheckpointLines: this.claims.badLines,
      receipts: {
        ...this.promises.report(),
        givenUpBlocks: this.checkpoints.givenUpBlocks,
        checkpoint: this.checkpoints.report(),
      },
      reserves: this.reserves.report(),
      orderSignatures: this.evidence?.orders ?? 0,
      sessions: this.evidence?.sessions ?? 0,
      voteSignatures: this.evidence?.votes ?? 0,
      notRecheckable: [...(this.evidence?.notRecheckable ?? [])].sort((a, b) => a - b),
      repeatedMessages: this.evidence?.repeatedMessages ?? [],
      prunedKeySignatures: this.evidence?.prunedKeySignatures ?? 0,
    };
  }
}

/** The fault for a record, batch or row that cannot be read or applied; rethrows other errors. */
function faultOf(error: unknown, seq: number, damage?: JournalDamaged): ReportedFault {
  if (error instanceof ReplayFailed) return { position: error.seq, reason: error.message };
  if (error instanceof HistoryDamaged) return { position: seq, reason: error.message };
  if (damage !== undefined && seq === 0) return { position: null, reason: damage.message };
  // The reader knows where it stopped; the inspection of the whole log knows why.
  if (error instanceof JournalError) {
    const isElsewhere = error instanceof JournalDamaged && error.file !== damage?.file;
    return { position: seq + 1, reason: (isElsewhere ? error : (damage ?? error)).message };
  }
  throw error;
}
