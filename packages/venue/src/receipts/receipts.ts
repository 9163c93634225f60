/**
 * Issues receipts: one signature for all acknowledgements of a durable batch, by a key that only this
 * process has and that the log's key certifies.
 *
 * `issue` is called while a batch is applied, once per acknowledgement, and `onBatchEnd` after it; so a
 * receipt always follows the application of its command, and a batch that is dropped has none. Another
 * thread signs, and while batches have one receipt each the event loop does (ADR 102). If the venue
 * stops first, the callers get undefined instead of a receipt.
 */
import { setTimeout } from "node:timers/promises";
import { firstMessage, startWorker, type WorkerThread } from "@perpgate/journal/worker";
import { STATEMENT, STATEMENT_BYTES } from "@perpgate/protocol/receipts";
import type { BlockBuilder } from "../blocks/block-builder.js";
import { ACKNOWLEDGED } from "../event-fields.js";
import type { Applied } from "../replica.js";
import { acknowledgedAt } from "../views/acknowledgement.js";
import type { VenueSource } from "../views/venue-source.js";
import { type ReceiptSigner, signBatch } from "./receipt-batch.js";
import { type ReceiptKey, venueIdOf } from "./receipt-key.js";
import { newReceiptMemory, ReceiptRing } from "./receipt-ring.js";
import type { ReceiptThreadData } from "./receipt-thread.js";
import { statementBufferAt } from "./statement-view.js";

/** Called once, with the receipt in base64url, or with undefined if the venue stopped. */
export type OnReceipt = (receipt: string | undefined) => void;

export interface ReceiptSource extends VenueSource {
  readonly blocks: BlockBuilder;
}

const CLOSE_WAIT_MS = 1_000;
const CLOSE_POLL_MS = 5;
const TAG = Buffer.from("PGRCPT01");
const U32 = 2 ** 32;

export class Receipts {
  /** Resolves with the reason if the thread ends before `close`. */
  readonly failed: Promise<Error>;
  private readonly waiting: OnReceipt[] = [];
  /** Repeated acknowledgements that were asked for while a batch was open. */
  private readonly repeated: { readonly statement: Buffer; readonly onReceipt: OnReceipt }[] = [];
  /** Receipts asked for so far, repeated ones included. */
  asked = 0;
  private isBatchOpen = false;
  /** The last batch had one receipt, and no other waited. */
  private isAlone = false;
  private isOver = false;
  private readonly venueId: Buffer;

  private constructor(
    private readonly source: ReceiptSource,
    private readonly signer: ReceiptSigner,
    private readonly thread: WorkerThread,
    private readonly ring: ReceiptRing,
  ) {
    this.venueId = venueIdOf(source.listing);
    this.failed = new Promise((resolve) => {
      void thread.exited.then((error) => {
        if (!this.isOver) resolve(error);
      });
    });
    void this.watch();
  }

  static async start(source: ReceiptSource, key: ReceiptKey): Promise<Receipts> {
    const { seed, certificate } = key;
    const memory = newReceiptMemory();
    const workerData: ReceiptThreadData = { memory, seed, certificate };
    const thread = startWorker("receipts", "./receipt-thread.js", import.meta.url, { workerData });
    await firstMessage(thread);
    return new Receipts(source, key, thread, new ReceiptRing(memory));
  }

  /** Within the submitter of a command that was acknowledged; `requestHash` is SHA-256 of its body. */
  issue(applied: Applied, requestHash: Uint8Array, onReceipt: OnReceipt): void {
    if (this.isOver) {
      onReceipt(undefined);
      return;
    }
    this.asked++;
    this.isBatchOpen = true;
    const slot = this.ring.nextStatement();
    const statement = slot ?? Buffer.allocUnsafe(STATEMENT_BYTES);
    this.write(statement, applied, requestHash);
    if (slot === undefined) this.signHere(statement, onReceipt);
    else this.waiting.push(onReceipt);
  }

  /** For an acknowledgement that is given again: a tree of one leaf. */
  reissue(seq: number, onReceipt: OnReceipt): void {
    const statement = this.isOver ? undefined : statementBufferAt(this.source, seq);
    this.asked++;
    if (statement === undefined) onReceipt(undefined);
    else if (this.isBatchOpen) this.repeated.push({ statement, onReceipt });
    else this.signAlone(statement, onReceipt);
  }

  /** Receipts that the thread has not signed yet. */
  get waitingCount(): number {
    return this.waiting.length + this.repeated.length;
  }

  onBatchEnd(): void {
    if (!this.isBatchOpen) return;
    this.isBatchOpen = false;
    const wasAlone = this.isAlone;
    this.isAlone = this.waiting.length === 1;
    const only = wasAlone && this.isAlone ? this.ring.takeOnly() : undefined;
    if (only === undefined) this.ring.endBatch();
    else this.signHere(only, this.waiting.pop()!);
    for (const { statement, onReceipt } of this.repeated.splice(0)) {
      this.signAlone(statement, onReceipt);
    }
  }

  /** Calls everyone who waits, without a receipt. */
  stop(): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const { onReceipt } of this.repeated.splice(0)) onReceipt(undefined);
    for (const onReceipt of this.waiting.splice(0)) onReceipt(undefined);
  }

  /** Waits for the receipts that the thread signs, for a second at most. */
  async close(): Promise<void> {
    const untilMs = performance.now() + CLOSE_WAIT_MS;
    while (this.waitingCount > 0 && performance.now() < untilMs) await setTimeout(CLOSE_POLL_MS);
    this.stop();
    this.ring.wakeWatcher();
    await this.thread.worker.terminate();
  }

  private signAlone(statement: Buffer, onReceipt: OnReceipt): void {
    const slot = this.ring.nextStatement();
    if (slot === undefined) {
      this.signHere(statement, onReceipt);
      return;
    }
    slot.set(statement);
    this.waiting.push(onReceipt);
    this.ring.endBatch(true);
  }

  /** On the event loop: for a receipt that is alone, and where thousands fill the ring. */
  private signHere(statement: Buffer, onReceipt: OnReceipt): void {
    const [receipt] = signBatch([statement], this.signer);
    // After the batch was applied, as the receipts of the thread.
    queueMicrotask(() => onReceipt(receipt));
  }

  /** The bytes of the protocol's `statementBytes`, written in place. */
  private write(bytes: Buffer, applied: Applied, requestHash: Uint8Array): void {
    const { words } = applied.events;
    const at = acknowledgedAt(applied.events);
    if (at < 0) throw new Error("a receipt was asked for a command without an acknowledgement");
    const { blocks, engine } = this.source;
    bytes.set(TAG, 0);
    bytes.set(this.venueId, STATEMENT.venueId);
    writeCount(bytes, STATEMENT.position, applied.seq);
    bytes.set(requestHash, STATEMENT.requestHash);
    const address = engine.state.addresses.at(words[at + ACKNOWLEDGED.account]!) ?? "";
    bytes.write(address, STATEMENT.address, "hex");
    writeCount(bytes, STATEMENT.session, words[at + ACKNOWLEDGED.session]!);
    bytes.write(blocks.lastLeafHash, STATEMENT.leafHash, "latin1");
    writeCount(bytes, STATEMENT.block, words[at + ACKNOWLEDGED.block]!);
    writeCount(bytes, STATEMENT.timeMs, applied.timeMs);
    bytes.set(blocks.lastHash, STATEMENT.lastBlockHash);
  }

  private async watch(): Promise<void> {
    while (!this.isOver) {
      this.deliver();
      await this.ring.receiptReady();
    }
  }

  private deliver(): void {
    let delivered = 0;
    for (let receipt = this.ring.nextReceipt(); receipt !== undefined; ) {
      const onReceipt = this.waiting[delivered++];
      if (onReceipt !== undefined) callSafely(onReceipt, receipt);
      receipt = this.ring.nextReceipt();
    }
    this.waiting.splice(0, delivered);
  }
}

function writeCount(bytes: Buffer, at: number, count: number): void {
  bytes.writeUInt32LE(count % U32, at);
  bytes.writeUInt32LE(Math.floor(count / U32), at + 4);
}

/** A callback that throws must not keep the others from their receipts. */
function callSafely(onReceipt: OnReceipt, receipt: string): void {
  try {
    onReceipt(receipt);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
