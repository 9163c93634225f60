/**
 * A ring in shared memory between the event loop (the issuer) and the thread that signs receipts: the
 * statements of a batch go in, its receipts come out in the same slots and order.
 *
 * HEAD and DONE are running counts of slots modulo 2^32 with one writer each:
 *
 *   issuer  writes the statements, the number of them into the first slot, then stores HEAD; loads
 *           ASLEEP and notifies HEAD if it is 1
 *   signer  loads HEAD, reads the batches, writes the receipts into their slots, stores DONE, notifies
 *
 * Batches that wait while the signer is busy share one tree and one signature; a batch is never split.
 */
import { STATEMENT_BYTES } from "@perpgate/protocol/receipts";

/** Slots written so far; written by the issuer. */
const HEAD = 0;
/** Slots signed so far; written by the signer. */
const DONE = 1;
/** 1 while the signer sleeps, or is about to; written by the signer. */
const ASLEEP = 2;
const CONTROL_WORDS = 3;

const SLOTS = 4_096;
const SLOT_BYTES = 1_024;
/** u16: statements of the batch, in its first slot; with the top bit, a tree of its own. */
const COUNT = 0;
/** u16: characters of the receipt. */
const LENGTH = 2;
const BODY = 4;
const ALONE = 0x8000;
/** Waiting batches are joined up to this many statements. */
const JOINED_STATEMENTS = 256;

export interface ReceiptMemory {
  readonly control: SharedArrayBuffer;
  readonly slots: SharedArrayBuffer;
}

export function newReceiptMemory(): ReceiptMemory {
  return {
    control: new SharedArrayBuffer(4 * CONTROL_WORDS),
    slots: new SharedArrayBuffer(SLOTS * SLOT_BYTES),
  };
}

export class ReceiptRing {
  private readonly control: Int32Array<SharedArrayBuffer>;
  private readonly bytes: Buffer;
  /** The issuer's counts: slots of ended batches, statements of the open one, receipts read. */
  private head = 0;
  private open = 0;
  private read = 0;

  constructor(memory: ReceiptMemory) {
    this.control = new Int32Array(memory.control);
    this.bytes = Buffer.from(memory.slots);
  }

  /** Issuer: where to write the next statement of the open batch; undefined if the ring is full. */
  nextStatement(): Buffer | undefined {
    // A slot is free once its receipt is read, so this compares with `read`, not with DONE.
    if (((this.head + this.open - this.read) | 0) >= SLOTS) return undefined;
    const at = this.slotAt(this.head + this.open) + BODY;
    this.open++;
    return this.bytes.subarray(at, at + STATEMENT_BYTES);
  }

  /** Issuer: hands the open batch to the signer; `alone`: it shares its tree with no other. */
  endBatch(alone = false): void {
    if (this.open === 0) return;
    const count = alone ? this.open | ALONE : this.open;
    this.bytes.writeUInt16LE(count, this.slotAt(this.head) + COUNT);
    this.head = (this.head + this.open) | 0;
    this.open = 0;
    Atomics.store(this.control, HEAD, this.head);
    if (Atomics.load(this.control, ASLEEP) !== 0) Atomics.notify(this.control, HEAD);
  }

  /** Issuer: the only statement of the open batch, taken out of the ring; undefined if others wait. */
  takeOnly(): Buffer | undefined {
    if (this.open !== 1 || this.head !== this.read) return undefined;
    this.open = 0;
    const at = this.slotAt(this.head) + BODY;
    return this.bytes.subarray(at, at + STATEMENT_BYTES);
  }

  /** Issuer: the oldest unread receipt, or undefined. */
  nextReceipt(): string | undefined {
    if (this.read === Atomics.load(this.control, DONE)) return undefined;
    const at = this.slotAt(this.read);
    const length = this.bytes.readUInt16LE(at + LENGTH);
    this.read = (this.read + 1) | 0;
    return this.bytes.toString("latin1", at + BODY, at + BODY + length);
  }

  /** Issuer: resolves when there is a receipt to read, or on `wakeWatcher`. */
  async receiptReady(): Promise<void> {
    const wait = Atomics.waitAsync(this.control, DONE, this.read);
    if (wait.async) await wait.value;
  }

  /** Issuer: ends a pending `receiptReady`. */
  wakeWatcher(): void {
    Atomics.notify(this.control, DONE);
  }

  /** Signer: sleeps until there is a batch; the statements to sign together, valid until `give`. */
  take(): Buffer[] {
    const done = Atomics.load(this.control, DONE);
    while (Atomics.load(this.control, HEAD) === done) {
      // ASLEEP = 1 is stored before the wait compares HEAD. An issuer that still loaded ASLEEP = 0 has
      // stored HEAD before, so the comparison fails and the wait returns immediately.
      Atomics.store(this.control, ASLEEP, 1);
      Atomics.wait(this.control, HEAD, done);
      Atomics.store(this.control, ASLEEP, 0);
    }
    const count = this.joinedCount(done, (Atomics.load(this.control, HEAD) - done) | 0);
    return Array.from({ length: count }, (_, i) => {
      const at = this.slotAt(done + i) + BODY;
      return this.bytes.subarray(at, at + STATEMENT_BYTES);
    });
  }

  /** Statements of the oldest batch, and of those after it that may join it. */
  private joinedCount(done: number, waiting: number): number {
    const first = this.bytes.readUInt16LE(this.slotAt(done) + COUNT);
    if ((first & ALONE) !== 0) return first & ~ALONE;
    let joined = first;
    while (joined < waiting) {
      const next = this.bytes.readUInt16LE(this.slotAt(done + joined) + COUNT);
      if ((next & ALONE) !== 0 || joined + next > JOINED_STATEMENTS) break;
      joined += next;
    }
    return joined;
  }

  /** Signer: the receipts of what was taken last. */
  give(receipts: readonly string[]): void {
    const done = Atomics.load(this.control, DONE);
    receipts.forEach((receipt, i) => {
      const at = this.slotAt(done + i);
      this.bytes.writeUInt16LE(receipt.length, at + LENGTH);
      this.bytes.write(receipt, at + BODY, "latin1");
    });
    Atomics.store(this.control, DONE, (done + receipts.length) | 0);
    Atomics.notify(this.control, DONE);
  }

  private slotAt(count: number): number {
    return (count & (SLOTS - 1)) * SLOT_BYTES;
  }
}
