/**
 * Recomputes from the log what the venue promised: the honesty record, and the root of the last checkpoint
 * that it signed. The root needs the log from its beginning; of a pruned one it is not compared. The
 * checkpoint's signature is checked with a pinned key: the folder has none that another could trust.
 */
import { EVENT } from "@perpgate/engine";
import {
  type Checkpoint,
  type NoteKey,
  openCheckpoint,
  parseCheckpoint,
  parseNote,
} from "@perpgate/protocol/receipts";
import { encodeHeader, type SealedBlock } from "../blocks/block-header.js";
import { MerkleAccumulator } from "../blocks/merkle.js";
import { ACKNOWLEDGED, eventWords } from "../event-fields.js";
import { HonestyRecord, type Quantiles } from "../receipts/honesty-record.js";
import { verifyEd25519 } from "../receipts/verify-ed25519.js";
import type { Applied } from "../replica.js";
import type { SignedClaim } from "./stored-claims.js";

/** Acknowledgements, how many are in sealed blocks, how many of these not where they were promised. */
export interface PromiseReport {
  /** Log time of the first in a sealed block; null before it. */
  readonly since: number | null;
  readonly issued: number;
  readonly sealed: number;
  readonly notKept: number;
  readonly sealedMs: Quantiles | null;
  /** Blocks of the last signed checkpoint, if it differs and the operator gave up the log's end. */
  readonly givenUpBlocks: number | null;
  /** The last signed checkpoint; null if the folder has none, as a backup. */
  readonly checkpoint: CheckpointReport | null;
}

export interface CheckpointReport {
  readonly size: number;
  readonly isSignatureChecked: boolean;
  /** False in a pruned log, and if it covers more blocks than the log has. */
  readonly isRootCompared: boolean;
}

export class PromiseCheck {
  private readonly record = new HonestyRecord();
  /** Time and expected block of each acknowledgement in the open block, in turn. */
  private open: number[] = [];
  private readonly tree = new MerkleAccumulator();
  private readonly checkpoint: Checkpoint | undefined;
  /** No start accepts a checkpoint that it cannot read. */
  private readonly isUnreadable: boolean;
  /** Whether a checkpoint that differs is the operator's accepted loss, and no fault. */
  private readonly isGivenUp: boolean;
  private givenUpBlocks: number | null = null;
  private isSignatureChecked = false;

  constructor(private readonly signed: SignedClaim) {
    const { logCheckpoint: note } = signed;
    const parsed = note === undefined ? undefined : parseNote(note);
    this.checkpoint = parsed === undefined ? undefined : parseCheckpoint(parsed);
    this.isUnreadable = note !== undefined && this.checkpoint === undefined;
    this.isGivenUp = signed.isGivenUp;
  }

  /** Returns what differs, or null. */
  onCommand({ events, timeMs }: Applied, sealed: SealedBlock | null): string | null {
    const { words, length } = events;
    for (let at = 0; at < length; at += eventWords(words[at]!)) {
      if (words[at] !== EVENT.OrderAcknowledged) continue;
      this.open.push(timeMs, words[at + ACKNOWLEDGED.block]!);
    }
    if (sealed === null) return null;
    for (let i = 0; i < this.open.length; i += 2) {
      this.record.onSealed(this.open[i]!, this.open[i + 1]!, sealed.number, sealed.timeMs);
    }
    this.open = [];
    return this.checkpointFault(sealed);
  }

  private checkpointFault(sealed: SealedBlock): string | null {
    const { checkpoint, tree } = this;
    if (checkpoint === undefined || tree.count !== sealed.number - 1) return null;
    tree.add(encodeHeader(sealed));
    if (tree.count !== checkpoint.size || tree.root().equals(checkpoint.root)) return null;
    return this.broken(
      `the root of ${checkpoint.size} blocks is not the one of the last signed checkpoint`,
    );
  }

  /** After the last block. Returns what is missing, or null. */
  endFault(lastBlock: number): string | null {
    if (this.isUnreadable) return "log-checkpoint is no signed checkpoint";
    const size = this.checkpoint?.size ?? 0;
    if (size <= lastBlock) return null;
    return this.broken(
      `the last signed checkpoint covers ${size} blocks; the log has ${lastBlock}`,
    );
  }

  /** What is wrong with the checkpoint's signature by that key, or null. */
  async signatureFault(logKey: NoteKey): Promise<string | null> {
    const { logCheckpoint: note } = this.signed;
    if (note === undefined || this.isUnreadable) return null;
    const opened = await openCheckpoint(note, logKey, verifyEd25519);
    if (typeof opened === "string") return `log-checkpoint: ${opened}`;
    this.isSignatureChecked = true;
    return null;
  }

  private broken(reason: string): string | null {
    if (!this.isGivenUp) return reason;
    this.givenUpBlocks = this.checkpoint?.size ?? null;
    return null;
  }

  report(): PromiseReport {
    const { since, sealed, notKept, sealedMs } = this.record;
    return {
      since,
      issued: sealed + this.open.length / 2,
      sealed,
      notKept,
      sealedMs: sealedMs.quantiles(),
      givenUpBlocks: this.givenUpBlocks,
      checkpoint: this.checkpointReport(),
    };
  }

  private checkpointReport(): CheckpointReport | null {
    const { checkpoint, isSignatureChecked, tree } = this;
    if (checkpoint === undefined) return null;
    const { size } = checkpoint;
    return { size, isSignatureChecked, isRootCompared: tree.count >= size };
  }
}
