/**
 * Issues receipts: one signature for all acknowledgements of a durable batch, by a key that only this
 * process has and that the log's key certifies.
 *
 * `issue` is called while a batch is applied, once per acknowledgement, and `onBatchEnd` after it; so a
 * receipt always follows the application of its command, and a batch that is dropped has none. The event
 * loop signs: handing a batch to another thread and back took longer (ADR 168). If the venue stops first,
 * the callers get undefined instead of a receipt.
 */

import { bytesFromHex, readAnswerLeaf } from "@perpgate/protocol/core";
import {
  type ReceiptStatement,
  STATEMENT,
  STATEMENT_BYTES,
  statementBytes,
} from "@perpgate/protocol/receipts";
import type { BlockBuilder } from "../blocks/block-builder.js";
import { NO_PARENT } from "../blocks/block-header.js";
import { leafHash } from "../blocks/merkle.js";
import { answerFields } from "../event-fields.js";
import type { HistoryReader } from "../history/history-reader.js";
import { RESULT_ROW } from "../history/result-projection.js";
import type { KeptApplied } from "../replica.js";
import { HistoryDamaged } from "../venue-errors.js";
import { acknowledgedAt } from "../views/acknowledgement.js";
import { stateOf, type VenueSource } from "../views/venue-source.js";
import { signBatch } from "./receipt-batch.js";
import { requireVenueId } from "./receipt-key.js";
import type { ReceiptSigner } from "./receipt-signer.js";

/** Called once, with the receipt in base64url, or with undefined if the venue stopped. */
export type OnReceipt = (receipt: string | undefined) => void;

export interface ReceiptSource extends VenueSource {
  readonly blocks: BlockBuilder;
}

const TAG = Buffer.from("PGRCPT01");
const U32 = 2 ** 32;

interface Waiting {
  readonly statement: Buffer;
  readonly onReceipt: OnReceipt;
}

export class Receipts {
  /** Of the open batch. */
  private waiting: Waiting[] = [];
  /** Receipts asked for so far, repeated ones included. */
  asked = 0;
  private isOver = false;
  private readonly venueId: Buffer;

  constructor(
    private readonly source: ReceiptSource,
    private readonly signer: ReceiptSigner,
  ) {
    this.venueId = requireVenueId(source.listing);
  }

  /** Within the submitter of a command that was acknowledged; `requestHash` is SHA-256 of its signed body. */
  issue(applied: KeptApplied, requestHash: Uint8Array, onReceipt: OnReceipt): void {
    if (this.isOver) {
      onReceipt(undefined);
      return;
    }
    this.asked++;
    const statement = Buffer.allocUnsafe(STATEMENT_BYTES);
    this.write(statement, applied, requestHash);
    this.waiting.push({ statement, onReceipt });
  }

  /** For an acknowledgement that is given again: a tree of one leaf. */
  reissue(seq: number, onReceipt: OnReceipt): void {
    const statement = this.isOver ? undefined : statementBufferAt(this.source, seq);
    this.asked++;
    if (statement === undefined) onReceipt(undefined);
    else this.sign([{ statement, onReceipt }]);
  }

  onBatchEnd(): void {
    const { waiting } = this;
    if (waiting.length === 0) return;
    this.waiting = [];
    this.sign(waiting);
  }

  /** Calls everyone who waits, without a receipt. */
  stop(): void {
    this.isOver = true;
    for (const { onReceipt } of this.waiting.splice(0)) onReceipt(undefined);
  }

  private sign(batch: readonly Waiting[]): void {
    const receipts = signBatch(
      batch.map(({ statement }) => statement),
      this.signer,
    );
    // After the batch was applied. One that throws does not keep the others from theirs.
    for (const [i, { onReceipt }] of batch.entries()) queueMicrotask(() => onReceipt(receipts[i]));
  }

  /** The bytes of the protocol's `statementBytes`, written in place. */
  private write(bytes: Buffer, applied: KeptApplied, requestHash: Uint8Array): void {
    const { words } = applied.events;
    const at = acknowledgedAt(applied.events);
    if (at < 0) throw new Error("a receipt was asked for a command without an acknowledgement");
    const { account, session, block } = answerFields(words, at);
    const { blocks, engine } = this.source;
    bytes.set(TAG, 0);
    bytes.set(this.venueId, STATEMENT.venueId);
    writeCount(bytes, STATEMENT.position, applied.seq);
    bytes.set(requestHash, STATEMENT.requestHash);
    const address = engine.state.addresses.at(words[at + account]!) ?? "";
    bytes.write(address, STATEMENT.address, "hex");
    writeCount(bytes, STATEMENT.session, words[at + session]!);
    bytes.write(blocks.lastLeafHash, STATEMENT.leafHash, "latin1");
    writeCount(bytes, STATEMENT.block, words[at + block]!);
    writeCount(bytes, STATEMENT.timeMs, applied.timeMs);
    bytes.set(blocks.lastHash, STATEMENT.lastBlockHash);
  }
}

function writeCount(bytes: Buffer, at: number, count: number): void {
  bytes.writeUInt32LE(count % U32, at);
  bytes.writeUInt32LE(Math.floor(count / U32), at + 4);
}

/**
 * The statement about the acknowledgement at a seq, from the history: the same bytes as when the command was
 * applied. Undefined if there is none.
 */
function statementAt(source: VenueSource, seq: number): ReceiptStatement | undefined {
  const { history, listing } = source;
  const ack = history.answer(seq);
  if (ack === undefined) return undefined;
  const leaf = readAnswerLeaf(ack.leaf);
  const address = bytesFromHex(stateOf(source).addresses.at(leaf?.account ?? 0) ?? "");
  const venueId = bytesFromHex(listing.venueId ?? "");
  if (leaf === undefined || address === undefined || venueId === undefined) {
    throw new HistoryDamaged(`the acknowledgement at ${seq} cannot be read`);
  }
  return {
    venueId,
    position: seq,
    requestHash: requestHashAt(history, seq) ?? ack.digest,
    address,
    session: leaf.session,
    leafHash: leafHash(ack.leaf),
    block: leaf.block,
    timeMs: ack.timeMs,
    lastBlockHash: hashBefore(history, leaf.block),
  };
}

/** A statement with another hash than the first one's would be evidence against the venue. */
function hashBefore(history: HistoryReader, block: number): Buffer {
  if (block === 1) return NO_PARENT;
  const before = history.block(block - 1);
  if (before === undefined) throw new HistoryDamaged(`block ${block - 1} is missing`);
  return before.hash;
}

/** For an operation of a signed batch: the digest of the whole body, stored with the first operation. */
function requestHashAt(history: HistoryReader, seq: number): Buffer | undefined {
  const result = history.result(seq);
  if (result === undefined) return undefined;
  return history.result(seq - result.words[RESULT_ROW.INDEX]!)?.digest;
}

function statementBufferAt(source: VenueSource, seq: number): Buffer | undefined {
  const statement = statementAt(source, seq);
  return statement === undefined ? undefined : Buffer.from(statementBytes(statement).buffer);
}
