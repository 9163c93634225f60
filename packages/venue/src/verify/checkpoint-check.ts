/**
 * Compares the blocks of a log with signed checkpoints: the last one in the folder, and those that the
 * auditor kept. Anyone who can write to the folder can remove or replace the first, and none of those.
 *
 * With a pinned key, every checkpoint must be signed by it or by a key of its chain of successors, there
 * must be one, and it must cover all blocks but those of the last two minutes: an older
 * checkpoint in place of the last one would leave the rest unsigned.
 *
 * A tree needs all headers from the first block on. For a pruned log the history has the first ones, whose
 * chain of hashes must lead to the block that the replay begins in.
 */
import {
  type Checkpoint,
  NO_WITNESSES,
  type NoteKey,
  openCheckpoint,
  parseCheckpoint,
  parseNote,
  type WitnessPolicy,
} from "@perpgate/protocol/receipts";
import { encodeHeader, type SealedBlock } from "../blocks/block-header.js";
import { MerkleAccumulator } from "../blocks/merkle.js";
import { verifyEd25519Now } from "../receipts/verify-ed25519.js";
import type { SignedClaim } from "./stored-claims.js";

/** The checkpoint that covers the most blocks. */
export interface CheckpointReport {
  readonly size: number;
  /** How many there were: the folder's and the kept ones. */
  readonly count: number;
  readonly isSignatureChecked: boolean;
  /** Blocks that no checkpoint covers. */
  readonly uncoveredBlocks: number;
}

interface Claim extends Checkpoint {
  readonly source: string;
  readonly note: string;
  /** Whether a contradiction is the operator's accepted loss, and no fault. */
  readonly isGivenUp: boolean;
}

const IN_FOLDER = "log-checkpoint";
/** The longest interval between checkpoints, and as much for a start that waits for its witnesses. */
const OVERDUE_MS = 120_000;
/** A venue that was stopped seals no blocks: time without them does not count. */
const LONGEST_BLOCK_MS = 1_000;

export class CheckpointCheck {
  /** The smallest first. */
  private readonly claims: Claim[] = [];
  private unreadable: string | null = null;
  private readonly tree = new MerkleAccumulator();
  private compared = 0;
  private lastTimeMs: number | undefined;
  private uncoveredMs = 0;
  private uncoveredBlocks = 0;
  private isSignatureChecked = false;
  /** Blocks of the folder's checkpoint, if it differs and the operator gave up the log's end. */
  givenUpBlocks: number | null = null;

  /**
   * `logKeys`: the pinned key and the others of its chain; empty without one. `policy` is for the kept
   * checkpoints: that in the folder is written before witnesses have cosigned it.
   */
  constructor(
    signed: SignedClaim,
    kept: readonly string[],
    private readonly logKeys: readonly NoteKey[],
    private readonly policy: WitnessPolicy = NO_WITNESSES,
  ) {
    const { logCheckpoint, isGivenUp } = signed;
    // Anyone who can write to the folder can give up its end: it convinces nobody with a pinned key.
    const isExcused = isGivenUp && logKeys.length === 0 && kept.length === 0;
    if (logCheckpoint !== undefined) this.add(IN_FOLDER, logCheckpoint, isExcused);
    for (const [i, note] of kept.entries()) {
      this.add(kept.length === 1 ? "the kept checkpoint" : `kept checkpoint ${i + 1}`, note, false);
    }
    this.claims.sort((one, other) => one.size - other.size);
  }

  private add(source: string, note: string, isGivenUp: boolean): void {
    const parsed = parseNote(note);
    const checkpoint = parsed === undefined ? undefined : parseCheckpoint(parsed);
    // No start accepts a checkpoint that it cannot read.
    if (checkpoint === undefined) this.unreadable ??= `${source} is no signed checkpoint`;
    else this.claims.push({ ...checkpoint, source, note, isGivenUp });
  }

  /** Call for each block, from the first on. Returns what differs, or null. */
  onBlock(sealed: SealedBlock): string | null {
    const { tree } = this;
    tree.add(encodeHeader(sealed));
    if (tree.count > (this.claims.at(-1)?.size ?? 0)) {
      this.uncoveredBlocks++;
      const sinceMs = sealed.timeMs - (this.lastTimeMs ?? sealed.timeMs);
      this.uncoveredMs += Math.min(sinceMs, LONGEST_BLOCK_MS);
    }
    this.lastTimeMs = sealed.timeMs;
    return this.rootFault();
  }

  private rootFault(): string | null {
    for (let claim = this.claims[this.compared]; claim !== undefined; ) {
      const { size, source } = claim;
      if (size > this.tree.count) return null;
      this.compared++;
      if (!this.tree.root().equals(claim.root) && size > 0) {
        const fault = this.contradicted(
          claim,
          `the root of ${size} blocks is not that of ${source}`,
        );
        if (fault !== null) return fault;
      }
      claim = this.claims[this.compared];
    }
    return null;
  }

  /** Call after the last block. Returns what is missing or not signed, or null. */
  async endFault(): Promise<string | null> {
    if (this.unreadable !== null) return this.unreadable;
    for (const claim of this.claims.slice(this.compared)) {
      const { size, source } = claim;
      const fault = this.contradicted(
        claim,
        `${source} covers ${size} blocks; the log has ${this.tree.count}`,
      );
      if (fault !== null) return fault;
    }
    return this.logKeys.length === 0 ? null : await this.keyFault();
  }

  private async keyFault(): Promise<string | null> {
    for (const { source, note } of this.claims) {
      const policy = source === IN_FOLDER ? NO_WITNESSES : this.policy;
      const opened = await openCheckpoint(note, this.logKeys, verifyEd25519Now, policy);
      if (typeof opened === "string") return `${source}: ${opened}`;
    }
    const last = this.claims.at(-1);
    if (last === undefined)
      return "there is no signed checkpoint that the log could be compared with";
    this.isSignatureChecked = true;
    if (this.uncoveredMs <= OVERDUE_MS) return null;
    return `the last signed checkpoint covers ${last.size} blocks, the ${this.uncoveredBlocks} after it none`;
  }

  private contradicted({ isGivenUp, size }: Claim, reason: string): string | null {
    if (!isGivenUp) return reason;
    this.givenUpBlocks = size;
    return null;
  }

  report(): CheckpointReport | null {
    const { claims, isSignatureChecked, uncoveredBlocks } = this;
    const last = claims.at(-1);
    if (last === undefined) return null;
    return { size: last.size, count: claims.length, isSignatureChecked, uncoveredBlocks };
  }
}
