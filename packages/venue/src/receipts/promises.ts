/**
 * What a venue promises and how it is held to it: receipts for acknowledgements, and the transparency log
 * over the sealed blocks that they must appear in.
 */
import type { Honesty } from "@perpgate/protocol";
import { hexFromBytes } from "@perpgate/protocol/core";
import {
  type LeafProof,
  type NoteKey,
  noteKeyText,
  TILE_HASHES,
} from "@perpgate/protocol/receipts";
import { isAnswer } from "../event-fields.js";
import type { DataFolder } from "../recovery/data-folder.js";
import type { Applied } from "../replica.js";
import { BlockTree } from "../tlog/block-tree.js";
import { CheckpointStore } from "../tlog/checkpoint-store.js";
import { PublishedNotes } from "../tlog/published-notes.js";
import { keysOfLog, readSuccessors } from "../tlog/successor-store.js";
import { TransparencyLog } from "../tlog/transparency-log.js";
import type { WitnessSetting } from "../tlog/witness.js";
import { type PromiseOptions, SILENT, type VenueLogger } from "../venue-options.js";
import { sealedAck } from "../views/chain-view.js";
import { HonestyView } from "./honesty-view.js";
import { blockPath, leafProof, orderProofText } from "./promise-proofs.js";
import type { ReceiptSigner } from "./receipt-signer.js";
import { type ReceiptSource, Receipts } from "./receipts.js";
import { WithdrawalProofs } from "./withdrawal-proofs.js";

/** `required`: of the witnesses; 0: a checkpoint without cosignatures is published too. */
function policyText(
  logKeys: readonly NoteKey[],
  witnesses: readonly WitnessSetting[],
  required: number,
): string {
  const names = witnesses.map((_, i) => `w${i + 1}`);
  const lines = [
    ...distinctKeys(logKeys).map((key) => `log ${noteKeyText(key)}`),
    ...witnesses.map(({ key, url }, i) => `witness ${names[i]} ${noteKeyText(key)} ${url}`),
    ...(required === 0 ? [] : [`group required ${required} ${names.join(" ")}`]),
    `quorum ${required === 0 ? "none" : "required"}`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** The format permits a public key under one name. */
function distinctKeys(keys: readonly NoteKey[]): readonly NoteKey[] {
  const byKey = new Map(keys.map((key) => [hexFromBytes(key.publicKey), key]));
  return [...byKey.values()];
}

const CHECKPOINT_MS = 1_000;
/** Below the minute after which a judge calls a receipt overdue. */
const WITNESS_WAIT_MS = 30_000;

export class Promises {
  private readonly withdrawals: WithdrawalProofs;

  private constructor(
    private readonly source: ReceiptSource,
    /** The log's verifier key: what everyone who checks pins. */
    readonly logKey: string,
    /** Null: acknowledgements carry none. */
    readonly receipts: Receipts | null,
    readonly log: TransparencyLog,
    readonly tree: BlockTree,
    private readonly honestyView: HonestyView,
    /** Signed notes that say which log key succeeded which. */
    readonly successors: readonly string[],
    /** Who must have cosigned a published checkpoint, as a C2SP tlog-policy. */
    readonly policy: string,
  ) {
    this.withdrawals = new WithdrawalProofs(source, tree, { logKey, successors });
  }

  static async start(
    source: ReceiptSource,
    folder: DataFolder,
    options: PromiseOptions,
    receiptKey: ReceiptSigner,
    logger: VenueLogger = SILENT,
  ): Promise<Promises> {
    const { logKey, witnesses = [], isSigner, announce, caughtUp } = options;
    const tree = new BlockTree(source.history);
    const honesty = new HonestyView(source, logger);
    const successors = readSuccessors(folder.logSuccessors);
    const keys = await keysOfLog(logKey, successors);
    const store = new CheckpointStore(folder.logCheckpoint);
    const kept = new PublishedNotes(folder.logPublished);
    const log = new TransparencyLog(tree, store, kept, {
      logKey,
      earlierKeys: keys.slice(0, -1),
      witnesses,
      required: options.required ?? 0,
      intervalMs: options.checkpointMs ?? CHECKPOINT_MS,
      witnessWaitMs: options.witnessWaitMs ?? WITNESS_WAIT_MS,
      logger,
      onPublished: ({ size, witnesses: cosigned }) => {
        if (cosigned.length > 0) honesty.onWitnessed(size);
      },
      ...(isSigner === undefined ? {} : { isSigner }),
      ...(announce === undefined ? {} : { announce }),
      ...(caughtUp === undefined ? {} : { caughtUp }),
    });
    await log.start();
    const receipts = options.issueReceipts === false ? null : new Receipts(source, receiptKey);
    const policy = policyText(keys, witnesses, options.required ?? 0);
    return new Promises(source, logKey.text, receipts, log, tree, honesty, successors, policy);
  }

  /** Every command, before the next one is applied. */
  onCommand(applied: Applied): void {
    this.honestyView.onCommand(applied);
  }

  get venueId(): string {
    return this.source.listing.venueId ?? "";
  }

  /** The list of a sealed block's acknowledgements; undefined if the block is not sealed. */
  async ackList(number: number): Promise<Buffer | undefined> {
    const { history } = this.source;
    const block = await history.read(() => history.block(number));
    if (block === undefined) return undefined;
    return (await history.ackTrees.of(block, () => undefined)).list;
  }

  /** Receipts of sealed blocks that name another block. */
  get notKept(): number {
    return this.honestyView.record.notKept;
  }

  /** How receipts were kept. */
  honesty(): Honesty {
    this.honestyView.advanceForRead();
    const { record, witnessedMs, throughBlock, issued } = this.honestyView;
    const { published, conflict } = this.log;
    return {
      logKey: this.logKey,
      witnesses: [...this.log.witnessKeys],
      venueId: this.venueId,
      issuesReceipts: this.receipts !== null,
      since: record.since,
      throughBlock: throughBlock === 0 ? null : throughBlock,
      issued,
      sealed: record.sealed,
      notKept: record.notKept,
      sealedMs: record.sealedMs.quantiles(),
      witnessedMs: witnessedMs.quantiles(),
      checkpoint:
        published === undefined
          ? null
          : {
              size: published.size,
              witnesses: [...published.witnesses],
              cosignedMs: published.cosignedMs,
            },
      conflict,
    };
  }

  /** A block's path under the published checkpoint; undefined while it covers fewer blocks. */
  blockPath(
    number: number,
    onRead: (rows: number) => void,
  ): Promise<readonly Buffer[] | undefined> {
    const { tree, log, source } = this;
    const { published } = log;
    return source.history.readCounted(onRead, (count) => blockPath(tree, published, number, count));
  }

  /** The proof file of an acknowledgement; undefined while no checkpoint covers its block. */
  async orderProof(seq: number, onRead: (rows: number) => void): Promise<string | undefined> {
    const { source, tree, logKey } = this;
    const isProvable = (words: ArrayLike<number>) => isAnswer(words, 0);
    const sealed = await sealedAck(source.history, seq, onRead, isProvable);
    if (sealed === undefined || sealed === "not_sealed") return undefined;
    const keys = { logKey, successors: this.successors };
    const { published } = this.log;
    return source.history.readCounted(onRead, (count) =>
      orderProofText(source, tree, published, keys, sealed, count),
    );
  }

  /** What leads from the leaf at a seq to the published checkpoint; undefined while none covers its block. */
  async leafProof(seq: number): Promise<LeafProof | undefined> {
    const { source, tree, logKey, successors, log } = this;
    const { published } = log;
    if (published === undefined) return undefined;
    const sealed = await sealedAck(source.history, seq, () => undefined);
    if (sealed === undefined || sealed === "not_sealed") return undefined;
    const keys = { logKey, successors };
    return source.history.read(() => leafProof(tree, published, keys, sealed, () => undefined));
  }

  /** The proof of an open withdrawal; null while no checkpoint covers its block. */
  withdrawalProof(id: number): Promise<string | null> {
    return this.withdrawals.of(id, this.log.published);
  }

  /** A tile of the published tree; undefined beyond the published checkpoint. */
  async tile(level: number, index: number, width: number): Promise<Buffer | undefined> {
    if (!this.isPublished(level, index, width)) return undefined;
    return this.source.history.read(() => this.tree.tile({ level, index, width }));
  }

  async bundle(index: number, width: number): Promise<Buffer | undefined> {
    if (!this.isPublished(0, index, width)) return undefined;
    return this.source.history.read(() => this.tree.bundle({ level: 0, index, width }));
  }

  private isPublished(level: number, index: number, width: number): boolean {
    const size = this.log.published?.size ?? 0;
    return (index * TILE_HASHES + width) * TILE_HASHES ** level <= size;
  }

  /** Nothing more is signed; callers that wait for a receipt get none. */
  stop(): void {
    this.honestyView.close();
    this.receipts?.stop();
  }

  async close(): Promise<void> {
    this.honestyView.close();
    await this.log.close();
    this.receipts?.stop();
  }
}
