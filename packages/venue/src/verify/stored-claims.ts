/**
 * What a data folder claims beside its log: blocks and acknowledgements in the history, state hashes
 * in the checkpoints, states in the snapshots. Each is compared with what the replay comes to. What
 * is not there claims nothing.
 */
import { createHash } from "node:crypto";
import { STATE_FORMAT } from "@perpgate/engine";
import { FileSnapshots, nodeDisk } from "@perpgate/journal";
import type { SealedBlock } from "../blocks/block-header.js";
import { sha256 } from "../blocks/merkle.js";
import { type Checkpoint, readCheckpoints } from "../checkpoint/checkpoint-file.js";
import { HistoryReader } from "../history/history-reader.js";
import { type HistoryStore, openForReading } from "../history/history-store.js";
import { keyOf } from "../history/keys.js";
import { decodeSessionKey } from "../history/session-projection.js";
import type { DataFolder } from "../recovery/data-folder.js";
import { isUnreadable } from "../recovery/newest-state.js";
import {
  decodeReplicaState,
  encodeReplicaState,
  type ReplicaState,
} from "../recovery/replica-state.js";

const NO_LOG = new Uint8Array(16);

export class StoredClaims {
  checkpoints = 0;
  snapshots = 0;
  acks = 0;
  private readonly reader: HistoryReader | undefined;
  private readonly pending: Checkpoint[];
  private readonly snapshotBatches: Set<number>;

  private constructor(
    private readonly store: HistoryStore | undefined,
    checkpoints: readonly Checkpoint[],
    private readonly files: FileSnapshots,
  ) {
    this.reader = store === undefined ? undefined : new HistoryReader(store.tables);
    this.pending = [...checkpoints].sort((a, b) => a.batch - b.batch);
    this.snapshotBatches = new Set(files.list().map(({ position }) => position.batch));
  }

  static async open(folder: DataFolder, logId: Uint8Array): Promise<StoredClaims> {
    const files = new FileSnapshots(nodeDisk, folder.journal, logId);
    const store = await openForReading(folder.history, logId);
    return new StoredClaims(store, readCheckpoints(folder.checkpoints), files);
  }

  /** For a log that does not say which it is. */
  static none(folder: DataFolder): StoredClaims {
    return new StoredClaims(undefined, [], new FileSnapshots(nodeDisk, folder.journal, NO_LOG));
  }

  /** The last position that the history claims anything about; 0 without one. */
  get historyPosition(): number {
    return this.store?.held.position ?? 0;
  }

  /** Claims about places before the replay's start cannot be compared. */
  skipTo(batch: number): void {
    while (this.pending[0] !== undefined && this.pending[0].batch < batch) this.pending.shift();
  }

  publicKeyOf(session: number): Uint8Array | undefined {
    const bytes = this.store?.tables.sessions.get(keyOf(session));
    return bytes === undefined ? undefined : decodeSessionKey(bytes).publicKey;
  }

  blockFault(block: SealedBlock): string | null {
    if (this.reader === undefined || block.lastPosition > this.historyPosition) return null;
    const stored = this.reader.block(block.number);
    if (stored === undefined) return `block ${block.number} is missing from the history`;
    if (!stored.acksRoot.equals(block.acksRoot)) {
      return `block ${block.number}: the root over its acknowledgements differs`;
    }
    if (stored.hash.equals(block.hash)) return null;
    return `block ${block.number}: hash ${block.hash.toString("hex")}, stored ${stored.hash.toString("hex")}`;
  }

  ackFault(position: number, leaf: Uint8Array, signed: Uint8Array): string | null {
    if (this.reader === undefined || position > this.historyPosition) return null;
    this.acks++;
    const stored = this.reader.ack(position);
    if (stored === undefined) return "the acknowledgement is missing from the history";
    if (!stored.leaf.equals(leaf)) return "the stored acknowledgement differs";
    return stored.digest.equals(sha256(signed)) ? null : "the stored digest of the body differs";
  }

  /** At the end of a batch, with the block sealed last. */
  placeFault(
    place: { readonly batch: number; readonly record: number },
    state: ReplicaState,
    lastBlock: SealedBlock | undefined,
  ): string | null {
    for (let next = this.pending[0]; next?.batch === place.batch; next = this.pending[0]) {
      this.pending.shift();
      if (next.format === STATE_FORMAT) this.checkpoints++;
      const fault = checkpointFault(next, state, lastBlock);
      if (fault !== null) return fault;
    }
    return this.snapshotBatches.has(place.batch) ? this.snapshotFault(place.batch, state) : null;
  }

  /** After the last batch: a checkpoint that the log never reached. */
  endFault(): string | null {
    const next = this.pending[0];
    return next === undefined ? null : `the log ends before its checkpoint at ${next.position}`;
  }

  async close(): Promise<void> {
    await this.store?.environment.close();
  }

  private snapshotFault(batch: number, state: ReplicaState): string | null {
    const { snapshot } = this.files.newest(batch);
    // The venue may have removed it since; a damaged one claims nothing and is never used.
    if (snapshot === undefined || snapshot.position.batch !== batch) return null;
    const own = Buffer.concat(encodeReplicaState(state, state.engine.snapshot()));
    if (own.equals(snapshot.body)) {
      this.snapshots++;
      return null;
    }
    // One that this version cannot read claims nothing either: no start uses it.
    return isReadable(snapshot.body) ? `the snapshot ${snapshot.file} holds another state` : null;
  }
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
  checkpoint: Checkpoint,
  { engine }: ReplicaState,
  lastBlock: SealedBlock | undefined,
): string | null {
  if (checkpoint.position !== engine.position) {
    return `a checkpoint says position ${checkpoint.position}, the log has ${engine.position}`;
  }
  // A hash over bytes of another form, written by another version, can be compared with nothing.
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
