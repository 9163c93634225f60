/**
 * Judges a receipt by what its venue publishes.
 *
 *   kept      its leaf is in its block, under a checkpoint
 *   pending   no checkpoint covers its block yet; `overdue` after a minute, and where the receipt's time is
 *             more than a minute ahead: no block would ever be due
 *   withheld  the venue does not hand out what its checkpoint commits to
 *   broken    a checkpoint covers the block, and the leaf is absent, elsewhere or different, the receipt
 *             is misdated, the history is forked, or one nonce was executed twice; with evidence that
 *             convinces others
 *   differs   the JSON that was answered is not what the receipt's leaf says. It is not signed, so nothing
 *             proves it to others
 *   invalid   it is no receipt of this log: it proves nothing
 */

import { sha256 } from "@noble/hashes/sha2.js";
import {
  type BlockEvidence,
  type BrokenKind,
  base64,
  type Checkpoint,
  EVIDENCE_FORMAT,
  type EvidenceFile,
  equalBytes,
  evidenceReceipt,
  type ForkEvidence,
  isLogKey,
  type OpenedCheckpoint,
  type OpenedReceipt,
  openCheckpoint,
  openReceiptFile,
  provenBlockText,
  receiptProblem,
  rootsOfConsistency,
  verifyEvidence,
  type WitnessOptions,
  type WitnessPolicy,
  witnessPolicy,
} from "@perpgate/protocol/receipts";
import { answerDifference } from "./answer-difference.js";
import { LogKeys } from "./log-keys.js";
import { type FetchBytes, LogReader, type ReadBlock, Withheld } from "./log-reader.js";
import { twiceEvidence } from "./twice-evidence.js";
import { verifyEd25519 } from "./verify-ed25519.js";

const OVERDUE_MS = 60_000;
/** Blocks on each side of the expected one that are searched for a leaf that was moved. */
const SEARCHED_BLOCKS = 4;

export type Verdict =
  | {
      readonly verdict: "kept";
      readonly block: number;
      readonly checkpointSize: number;
      /** Names of the witnesses whose cosignatures hold under `witnessKeys`. */
      readonly cosigners: readonly string[];
    }
  | { readonly verdict: "pending" | "overdue"; readonly reason: string }
  | { readonly verdict: "withheld"; readonly reason: string }
  | {
      readonly verdict: "broken";
      readonly kind: BrokenKind;
      readonly reason: string;
      readonly evidence: EvidenceFile;
    }
  | { readonly verdict: "differs" | "invalid"; readonly reason: string };

export interface JudgeOptions extends WitnessOptions {
  /** The venue's address. */
  readonly url: string;
  /**
   * The verifier key of the log that you pinned, also an earlier or later one of the same log; otherwise the
   * one in the receipt's file.
   */
  readonly logKey?: string | undefined;
  /** Checkpoints that you kept, such as those in proofs: a fork shows where they contradict. */
  readonly checkpoints?: readonly string[];
  /** Other receipts that you kept: one nonce that was executed twice shows in two of them. */
  readonly receipts?: readonly unknown[];
  /** Unix milliseconds; default: now. */
  readonly nowMs?: number;
  readonly fetch?: FetchBytes;
  /** Reads the log in place of a new reader: share one for several receipts, and no tile is read twice. */
  readonly reader?: LogReader;
}

/**
 * Judges a receipt by what its venue publishes now.
 *
 * @example
 * const [file] = session.receipts.files;
 * const verdict = await judgeReceipt(file, { url: "http://127.0.0.1:8080" });
 * console.log(verdict.verdict);
 */
export async function judgeReceipt(file: unknown, options: JudgeOptions): Promise<Verdict> {
  const opened = openReceiptFile(file);
  if (typeof opened === "string") return { verdict: "invalid", reason: opened };
  const reader = options.reader ?? new LogReader(options.url.replace(/\/+$/, ""), options.fetch);
  const keys = new LogKeys(opened.logKey, reader);
  if (options.logKey !== undefined && !isLogKey(opened.logKey, options.logKey)) {
    const reason = await keys.otherKeyProblem(options.logKey);
    if (reason !== null) return reason;
  }
  const trust = { logKey: opened.logKey.publicKey, verify: verifyEd25519 };
  const problem = await receiptProblem(opened.receipt, trust);
  if (problem !== null) return { verdict: "invalid", reason: problem };
  const policy = witnessPolicy(options);
  if (typeof policy === "string") return { verdict: "invalid", reason: policy };
  const twice = await executedTwice(opened, options.receipts ?? []);
  if (twice !== undefined) return twice;
  const verdict = await new Judgement(opened, policy, options, keys, reader).judge();
  if (verdict.verdict !== "kept" && verdict.verdict !== "pending") return verdict;
  const difference = answerDifference(opened);
  return difference === null ? verdict : { verdict: "differs", reason: difference };
}

/** The verdict, if another receipt is for the same operation at another position. */
async function executedTwice(
  opened: OpenedReceipt,
  receipts: readonly unknown[],
): Promise<Verdict | undefined> {
  const evidence = await twiceEvidence(opened, receipts);
  if (evidence === undefined) return undefined;
  const { position } = evidence.second;
  const reason = `position ${position} has the same session, nonce and place in its batch`;
  return { verdict: "broken", kind: "twice", reason, evidence };
}

class Judgement {
  constructor(
    private readonly opened: OpenedReceipt,
    private readonly policy: WitnessPolicy,
    private readonly options: JudgeOptions,
    private readonly keys: LogKeys,
    private readonly reader: LogReader,
  ) {}

  async judge(): Promise<Verdict> {
    try {
      return await this.judged();
    } catch (error) {
      if (error instanceof Withheld) return { verdict: "withheld", reason: error.message };
      throw error;
    }
  }

  private async judged(): Promise<Verdict> {
    const { statement } = this.opened.receipt;
    const nowMs = this.options.nowMs ?? Date.now();
    const isDue = Math.abs(nowMs - statement.timeMs) > OVERDUE_MS;
    const served = await this.servedCheckpoint();
    const [newest, ...others] = await this.checkpointsWith(served);
    if (newest === undefined) {
      const reason = `there is no valid checkpoint: ${served}`;
      return { verdict: isDue ? "withheld" : "pending", reason };
    }
    for (const other of others) {
      const fork = await this.forkOf(newest, other);
      if (fork !== undefined) return fork;
    }
    if (newest.size < statement.block) {
      const reason = `the checkpoint covers ${newest.size} blocks, the receipt is for ${statement.block}`;
      return { verdict: isDue ? "overdue" : "pending", reason };
    }
    const before =
      statement.block > 1 ? await this.reader.block(statement.block - 1, newest) : undefined;
    if (before !== undefined && !equalBytes(sha256(before.proof.header), statement.lastBlockHash)) {
      const reason = `block ${before.header.number} is not the one that was sealed before the receipt`;
      return this.broken("forked", reason, newest, before);
    }
    const block = await this.reader.block(statement.block, newest);
    const verdict = await this.judgeBlock(block, newest);
    if (verdict.verdict !== "kept") return verdict;
    return (await this.misdated(before, block, newest)) ?? verdict;
  }

  /** The verdict, if the receipt's time is not between those of the two blocks. */
  private async misdated(
    before: ReadBlock | undefined,
    block: ReadBlock,
    checkpoint: OpenedCheckpoint,
  ): Promise<Verdict | undefined> {
    const { timeMs } = this.opened.receipt.statement;
    const isEarly = before !== undefined && timeMs < before.header.timeMs;
    if (!isEarly && timeMs <= block.header.timeMs) return undefined;
    const against = isEarly ? before : block;
    const { number, timeMs: blockMs } = against.header;
    const reason = `its time is ${timeMs}, ${isEarly ? "before" : "after"} that of block ${number}, ${blockMs}`;
    return this.broken("misdated", reason, checkpoint, against);
  }

  private async judgeBlock(block: ReadBlock, checkpoint: OpenedCheckpoint): Promise<Verdict> {
    const { position, leafHash } = this.opened.receipt.statement;
    const { number } = block.header;
    const { acks, list } = await this.reader.acks(block);
    const here = acks.find((ack) => ack.position === position);
    if (here !== undefined && equalBytes(here.leafHash, leafHash)) {
      const { size: checkpointSize, cosigners } = checkpoint;
      return { verdict: "kept", block: number, checkpointSize, cosigners };
    }
    const moved = acks.find((ack) => equalBytes(ack.leafHash, leafHash));
    if (moved !== undefined) {
      const reason = `block ${number} has the leaf at position ${moved.position}`;
      return this.broken("elsewhere", reason, checkpoint, block, list);
    }
    if (here !== undefined) {
      const reason = `block ${number} has another leaf at position ${position}`;
      return this.broken("different", reason, checkpoint, block, list);
    }
    return (
      (await this.searchAround(number, checkpoint)) ??
      this.broken(
        "absent",
        `block ${number} has nothing at position ${position}`,
        checkpoint,
        block,
        list,
      )
    );
  }

  /** Where the leaf is, if it is in a block nearby. What is withheld there changes nothing. */
  private async searchAround(
    expected: number,
    checkpoint: OpenedCheckpoint,
  ): Promise<Verdict | undefined> {
    const { leafHash } = this.opened.receipt.statement;
    const first = Math.max(1, expected - SEARCHED_BLOCKS);
    const last = Math.min(checkpoint.size, expected + SEARCHED_BLOCKS);
    for (let number = first; number <= last; number++) {
      if (number === expected) continue;
      try {
        const block = await this.reader.block(number, checkpoint);
        const { acks, list } = await this.reader.acks(block);
        const moved = acks.find((ack) => equalBytes(ack.leafHash, leafHash));
        if (moved === undefined) continue;
        const reason = `the leaf is in block ${number}, position ${moved.position}`;
        return await this.broken("elsewhere", reason, checkpoint, block, list);
      } catch (error) {
        if (!(error instanceof Withheld)) throw error;
      }
    }
    return undefined;
  }

  /** The venue's checkpoint, or why there is none. */
  private async servedCheckpoint(): Promise<OpenedCheckpoint | string> {
    try {
      return await this.openCheckpoint(await this.reader.checkpoint());
    } catch (error) {
      if (error instanceof Withheld) return error.message;
      throw error;
    }
  }

  /** Valid checkpoints, the largest first: the venue's, and those that were kept. */
  private async checkpointsWith(served: OpenedCheckpoint | string): Promise<OpenedCheckpoint[]> {
    const kept = (this.options.checkpoints ?? []).map((text) => this.openCheckpoint(text));
    return [...(await Promise.all(kept)), served]
      .filter((each) => typeof each !== "string")
      .sort((one, other) => other.size - one.size);
  }

  /** By the receipt's key, or by another one of the log. */
  private async openCheckpoint(text: string): Promise<OpenedCheckpoint | string> {
    const opened = await this.openBy(text);
    if (typeof opened !== "string" || !(await this.keys.follow())) return opened;
    return this.openBy(text);
  }

  private openBy(text: string): Promise<OpenedCheckpoint | string> {
    return openCheckpoint(text, this.keys.known, verifyEd25519, this.policy);
  }

  private async forkOf(newest: OpenedCheckpoint, other: OpenedCheckpoint) {
    if (other.size === 0 || isSame(newest, other)) return undefined;
    const hashes =
      other.size === newest.size
        ? [newest.root]
        : await this.reader.consistency(other.size, newest);
    const roots = rootsOfConsistency(other.size, newest.size, hashes);
    if (roots === undefined || !equalBytes(roots.second, newest.root)) {
      throw new Withheld("the tiles are not those of the checkpoint");
    }
    if (equalBytes(roots.first, other.root)) return undefined;
    const reason = `two checkpoints of ${other.size} and ${newest.size} blocks contradict each other`;
    const evidence: ForkEvidence = {
      ...this.evidence("forked", newest),
      other: { checkpoint: textOf(other), hashes: hashes.map(base64) },
    };
    return this.confirmed("forked", reason, evidence);
  }

  private broken(
    kind: BlockEvidence["verdict"],
    reason: string,
    checkpoint: OpenedCheckpoint,
    { proof }: ReadBlock,
    list?: Uint8Array,
  ): Promise<Verdict> {
    const block = provenBlockText(proof.header, proof.path, list);
    return this.confirmed(kind, reason, { ...this.evidence(kind, checkpoint), block });
  }

  private evidence<K extends BrokenKind>(verdict: K, checkpoint: OpenedCheckpoint) {
    const receipt = evidenceReceipt(this.opened);
    const format: typeof EVIDENCE_FORMAT = EVIDENCE_FORMAT;
    const { successors } = this.keys;
    const related = successors.length === 0 ? {} : { successors };
    return { format, verdict, receipt, checkpoint: textOf(checkpoint), ...related };
  }

  /** Evidence is checked as its reader will check it. */
  private async confirmed(
    kind: BrokenKind,
    reason: string,
    evidence: EvidenceFile,
  ): Promise<Verdict> {
    const checked = await verifyEvidence(JSON.stringify(evidence), verifyEd25519);
    if (typeof checked === "string") throw new Error(`the evidence does not hold: ${checked}`);
    return { verdict: "broken", kind, reason, evidence };
  }
}

function isSame(one: Checkpoint, other: Checkpoint): boolean {
  return one.size === other.size && equalBytes(one.root, other.root);
}

/** The note as it was signed, with all of its signature lines. */
function textOf({ note }: OpenedCheckpoint): string {
  const lines = note.signatures.map(({ name, keyId, signature }) => {
    const bytes = new Uint8Array([...keyId, ...signature]);
    return `— ${name} ${base64(bytes)}\n`;
  });
  return `${note.text}\n${lines.join("")}`;
}
