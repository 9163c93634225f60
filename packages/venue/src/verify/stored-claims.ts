/**
 * Compares what a data folder stores in addition to its log with the replay: rows in the history, state
 * hashes in the checkpoints, states in the snapshots. A missing part is no fault; a part that cannot be
 * read is one, unless another release wrote it. A pruned log needs its history: without one that this
 * release can use, no start accepts the folder.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { STATE_FORMAT } from "@perpgate/engine";
import { FileSnapshots, type LogSeq, type LogState, nodeDisk } from "@perpgate/journal";
import type { SealedBlock } from "../blocks/block-header.js";
import { readCheckpointLines, type StateCheckpoint } from "../checkpoint/checkpoint-file.js";
import type { RowFault } from "../history/history-environment.js";
import { openForReading, type ReadStore, type Tables } from "../history/history-store.js";
import { keyOf } from "../history/keys.js";
import { decodeSessionKey, type SessionKeyRow } from "../history/session-projection.js";
import type { DataFolder } from "../recovery/data-folder.js";
import { isGivenUp } from "../recovery/given-up.js";
import { isUnreadable } from "../recovery/newest-state.js";
import {
  decodeReplicaState,
  encodeReplicaState,
  type ReplicaState,
} from "../recovery/replica-state.js";
import type { Applied } from "../replica.js";
import { CheckpointStore } from "../tlog/checkpoint-store.js";
import { HistoryCheck } from "./history-check.js";
import { acksFault } from "./pruned-blocks.js";

const NO_LOG = new Uint8Array(16);

/** What there is to compare, read before the log's end is looked up. */
interface Found {
  readonly store: ReadStore | undefined;
  /** Why an existing history cannot be compared. */
  readonly historyFault: string | null;
  readonly checkpoints: readonly StateCheckpoint[];
  readonly badLines: number;
  readonly files: FileSnapshots;
  readonly signed: SignedClaim;
}

/** The claim about the log's blocks. */
export interface SignedClaim {
  /** The last checkpoint of the transparency log that was signed. */
  readonly logCheckpoint: string | undefined;
  /** Whether the operator gave up the log's end after that checkpoint was signed. */
  readonly isGivenUp: boolean;
}

export function signedClaim(folder: DataFolder): SignedClaim {
  const logCheckpoint = new CheckpointStore(folder.logCheckpoint).read();
  return {
    logCheckpoint,
    isGivenUp: logCheckpoint !== undefined && isGivenUp(folder, logCheckpoint),
  };
}

export class StoredClaims {
  checkpoints = 0;
  snapshots = 0;
  /** Lines of the checkpoint file that are no checkpoint. */
  readonly badLines: number;
  private readonly pending: StateCheckpoint[];
  private readonly snapshotBatches: Set<number>;
  private history: HistoryCheck | undefined;
  private rows: ReplicaState["rows"] | undefined;

  private constructor(private readonly found: Found) {
    this.badLines = found.badLines;
    this.pending = [...found.checkpoints].sort((a, b) => a.batch - b.batch);
    this.snapshotBatches = new Set(found.files.batches());
  }

  static async open(
    folder: DataFolder,
    { logId, first }: LogState,
    signed: SignedClaim,
  ): Promise<StoredClaims> {
    const files = new FileSnapshots(nodeDisk, folder.journal, logId);
    const { lines, bad } = readCheckpointLines(folder.checkpoints);
    const checkpoints = lines.map(({ checkpoint }) => checkpoint);
    const opened = openForReading(folder.history, logId);
    const isUsable = opened !== undefined && !("kind" in opened);
    return new StoredClaims({
      store: isUsable ? opened : undefined,
      historyFault: isUsable ? null : historyFault(opened, first),
      checkpoints,
      badLines: bad,
      files,
      signed,
    });
  }

  /** For a damaged log whose id is unknown. */
  static none(folder: DataFolder): StoredClaims {
    const files = new FileSnapshots(nodeDisk, folder.journal, NO_LOG);
    const nothing = { store: undefined, historyFault: null, checkpoints: [], badLines: 0 };
    const claims = new StoredClaims({
      ...nothing,
      files,
      signed: { logCheckpoint: undefined, isGivenUp: false },
    });
    claims.snapshotBatches.clear();
    return claims;
  }

  get signed(): SignedClaim {
    return this.found.signed;
  }

  /** Rows of the history that agree. */
  get historyRows(): number {
    return this.history?.rowCount ?? 0;
  }

  get acknowledgements(): number {
    return this.history?.agreeing.acks.rows ?? 0;
  }

  /** Begins at a state; claims about earlier positions are dropped. */
  begin({ engine, rows }: ReplicaState, batch: number): void {
    this.rows = rows;
    while (this.pending[0] !== undefined && this.pending[0].batch < batch) this.pending.shift();
    for (const each of this.snapshotBatches) if (each < batch) this.snapshotBatches.delete(each);
    const { store } = this.found;
    if (store === undefined) return;
    this.history = new HistoryCheck(store, rows, engine.seq);
  }

  /** The history's tables; undefined without one that can be compared. */
  get tables(): Tables | undefined {
    return this.found.store?.tables;
  }

  /** The first position whose rows are all kept. */
  get historyBefore(): number {
    return this.found.store?.held.keptFrom ?? 1;
  }

  /** For the block that a replay which began after `from` has the end of: its first part is older. */
  splitBlockFault(sealed: SealedBlock, from: number): string | null {
    const { store } = this.found;
    const isSplit = sealed.firstPosition <= from && from < sealed.lastPosition;
    if (store === undefined || !isSplit || store.held.position < sealed.lastPosition) return null;
    if (sealed.firstPosition < store.held.keptFrom) return null;
    return acksFault(store.tables.acks, sealed);
  }

  sessionRow(session: number): SessionKeyRow | undefined {
    const bytes = this.found.store?.tables.sessions.get(keyOf(session));
    return bytes === undefined ? undefined : decodeSessionKey(bytes);
  }

  /** Call after each command, with the block that contains it and the block that it sealed. */
  commandFault(applied: Applied, block: number, sealed: SealedBlock | null): string | null {
    if (this.history !== undefined) return this.history.onCommand(applied, block, sealed);
    this.rows?.onCommand(applied, block, sealed);
    return null;
  }

  /** Call after each batch, with the last sealed block. */
  placeFault(
    place: LogSeq,
    state: ReplicaState,
    lastBlock: SealedBlock | undefined,
  ): string | null {
    for (let next = this.pending[0]; next?.batch === place.batch; next = this.pending[0]) {
      this.pending.shift();
      if (next.format === STATE_FORMAT) this.checkpoints++;
      const fault = checkpointFault(next, state, lastBlock);
      if (fault !== null) return fault;
    }
    return this.snapshotBatches.delete(place.batch) ? this.snapshotFault(place.batch, state) : null;
  }

  /** Call after the last batch: finds a claim past the log's end, or a row too many. */
  endFault(end: LogSeq, seq: number): string | null {
    const ends = `the log ends at position ${seq} (batch ${end.batch}), but`;
    const held = this.found.store?.held;
    if (held !== undefined && held.position > seq) {
      return `${ends} the history shows position ${held.position} (batch ${held.batch})`;
    }
    const next = this.pending.at(-1);
    if (next !== undefined) {
      return `${ends} checkpoints.jsonl shows position ${next.position} (batch ${next.batch})`;
    }
    const later = this.found.files.list().find(({ seq: at }) => at.batch > end.batch);
    if (later !== undefined && this.snapshotBatches.has(later.seq.batch)) {
      const { batch, record } = later.seq;
      return `${ends} ${later.file} shows position ${record} (batch ${batch})`;
    }
    return this.found.historyFault ?? this.history?.endFault() ?? null;
  }

  async close(): Promise<void> {
    this.found.store?.close();
  }

  private snapshotFault(batch: number, state: ReplicaState): string | null {
    const { snapshot, damaged } = this.found.files.newest(batch);
    const file = damaged.find((path) => Number.parseInt(basename(path), 10) === batch);
    if (file !== undefined) return `the snapshot ${file} is damaged`;
    // A live venue may have removed it meanwhile.
    if (snapshot === undefined || snapshot.seq.batch !== batch) return null;
    const own = Buffer.concat(encodeReplicaState(state, state.engine.snapshot()));
    if (own.equals(snapshot.body)) {
      this.snapshots++;
      return null;
    }
    // A snapshot that this release cannot read is no fault: no start uses it.
    return isReadable(snapshot.body) ? `the snapshot ${snapshot.file} holds another state` : null;
  }
}

/** Why a start does not accept the folder, if so: it rebuilds a history unless the log was pruned. */
function historyFault(fault: RowFault | undefined, first: LogSeq): string | null {
  if (first.batch > 0) {
    const reason = fault?.reason ?? "there is none";
    return `the log begins at batch ${first.batch}, so the history cannot be rebuilt, but ${reason}`;
  }
  // A history in another release's format is skipped, as a start would do.
  return fault?.kind === "damaged" ? `the history is damaged: ${fault.reason}` : null;
}

function isReadable(body: Uint8Array): boolean {
  try {
    decodeReplicaState(body);
    return true;
  } catch (error) {
    if (isUnreadable(error)) return false;
    throw error;
  }
}

function checkpointFault(
  checkpoint: StateCheckpoint,
  { engine }: ReplicaState,
  lastBlock: SealedBlock | undefined,
): string | null {
  if (checkpoint.position !== engine.seq) {
    return `a checkpoint says position ${checkpoint.position}, the log has ${engine.seq}`;
  }
  // A hash over another format cannot be compared.
  if (checkpoint.format === STATE_FORMAT) {
    const hash = engine.stateHash((bytes) => createHash("sha256").update(bytes).digest("hex"));
    if (hash !== checkpoint.stateHash) {
      return `the state's hash is ${hash}, the checkpoint says ${checkpoint.stateHash}`;
    }
  }
  if (checkpoint.block === 0 || lastBlock === undefined) return null;
  const own = lastBlock.hash.toString("hex");
  return lastBlock.number === checkpoint.block && own === checkpoint.blockHash
    ? null
    : `the last block is ${lastBlock.number} ${own}, the checkpoint says ${checkpoint.block} ${checkpoint.blockHash}`;
}
