/**
 * A ring in shared memory between the event loop (the sender) and one thread that checks signatures (the
 * checker): jobs go in, and verdicts come out in the same order.
 *
 * A job is copied into a slot of fixed size (key, signature, body); its verdict is one byte of the slot.
 * HEAD and DONE are running counts modulo 2^32 with one writer each:
 *
 *   sender   writes the slot, then stores HEAD; `wake` then loads ASLEEP and notifies HEAD if it is 1
 *   checker  loads HEAD, reads the slot, writes the verdict, stores DONE, notifies DONE
 *
 * Neither side is notified while it is awake: a notification costs a system call.
 */

/** Jobs offered so far; written by the sender. */
const HEAD = 0;
/** Jobs judged so far; written by the checker. */
const DONE = 1;
/** 1 while the checker sleeps, or is about to; written by the checker. */
const ASLEEP = 2;
const CONTROL_WORDS = 3;

const SLOTS = 1_024;
const SLOT_BYTES = 1_024;
const VERDICT = 0;
const KEY_LENGTH = 1;
const BODY_LENGTH = 2;
const KEY = 4;
const MAX_KEY_BYTES = 33;
const SIGNATURE = KEY + MAX_KEY_BYTES;
const SIGNATURE_BYTES = 64;
const BODY = SIGNATURE + SIGNATURE_BYTES;

/**
 * Verdicts per notification while more jobs wait. Each notification wakes the sender, which then wakes
 * the log; the verdicts of a burst share that. The verdict of a single job is notified immediately.
 */
const VERDICTS_PER_NOTIFY = 4;

/** An order's body has about 200 bytes; longer bodies are checked by libuv's pool. */
export const MAX_RING_BODY_BYTES = SLOT_BYTES - BODY;

export interface VerifyMemory {
  readonly control: SharedArrayBuffer;
  readonly slots: SharedArrayBuffer;
}

export function newVerifyMemory(): VerifyMemory {
  return {
    control: new SharedArrayBuffer(4 * CONTROL_WORDS),
    slots: new SharedArrayBuffer(SLOTS * SLOT_BYTES),
  };
}

/** Views into the slot, valid until `judge`. */
export interface VerifyJob {
  readonly rawKey: Buffer;
  readonly signature: Buffer;
  readonly body: Buffer;
}

export class VerifyRing {
  private readonly control: Int32Array<SharedArrayBuffer>;
  private readonly bytes: Buffer;
  /** The sender's counts: jobs offered, and verdicts read. */
  private head: number;
  private read: number;
  /** The checker's count of verdicts since the last notification. */
  private unnotified = 0;

  constructor(memory: VerifyMemory) {
    this.control = new Int32Array(memory.control);
    this.bytes = Buffer.from(memory.slots);
    this.head = Atomics.load(this.control, HEAD);
    this.read = Atomics.load(this.control, DONE);
  }

  /** Sender: adds a job; false if there is no room. Does not wake the checker. */
  offer(rawKey: Uint8Array, signature: Uint8Array, body: Uint8Array): boolean {
    // A slot is free once its verdict is read, so this compares with `read`, not with DONE.
    const inUse = (this.head - this.read) | 0;
    if (inUse >= SLOTS || body.length > MAX_RING_BODY_BYTES) return false;
    const { bytes } = this;
    const at = (this.head & (SLOTS - 1)) * SLOT_BYTES;
    bytes[at + KEY_LENGTH] = rawKey.length;
    bytes.writeUInt16LE(body.length, at + BODY_LENGTH);
    bytes.set(rawKey, at + KEY);
    bytes.set(signature, at + SIGNATURE);
    bytes.set(body, at + BODY);
    this.head = (this.head + 1) | 0;
    Atomics.store(this.control, HEAD, this.head);
    return true;
  }

  /** Sender: wakes the checker if it sleeps. */
  wake(): void {
    if (Atomics.load(this.control, ASLEEP) !== 0) Atomics.notify(this.control, HEAD);
  }

  /** Sender: the oldest unread verdict, or undefined. */
  nextVerdict(): boolean | undefined {
    if (this.read === Atomics.load(this.control, DONE)) return undefined;
    const isValid = this.bytes[(this.read & (SLOTS - 1)) * SLOT_BYTES + VERDICT] === 1;
    this.read = (this.read + 1) | 0;
    return isValid;
  }

  /** Sender: resolves when there is a verdict to read, or on `wakeWatcher`. */
  async verdictReady(): Promise<void> {
    const wait = Atomics.waitAsync(this.control, DONE, this.read);
    if (wait.async) await wait.value;
  }

  /** Sender: ends a pending `verdictReady`. */
  wakeWatcher(): void {
    Atomics.notify(this.control, DONE);
  }

  /** Checker: sleeps until there is a job, then returns it. */
  take(): VerifyJob {
    const done = Atomics.load(this.control, DONE);
    while (Atomics.load(this.control, HEAD) === done) {
      // ASLEEP = 1 is stored before the wait compares HEAD. A sender that still loaded ASLEEP = 0 has
      // stored HEAD before, so the comparison fails and the wait returns immediately.
      Atomics.store(this.control, ASLEEP, 1);
      Atomics.wait(this.control, HEAD, done);
      Atomics.store(this.control, ASLEEP, 0);
    }
    const { bytes } = this;
    const at = (done & (SLOTS - 1)) * SLOT_BYTES;
    const bodyLength = bytes.readUInt16LE(at + BODY_LENGTH);
    return {
      rawKey: bytes.subarray(at + KEY, at + KEY + bytes[at + KEY_LENGTH]!),
      signature: bytes.subarray(at + SIGNATURE, at + SIGNATURE + SIGNATURE_BYTES),
      body: bytes.subarray(at + BODY, at + BODY + bodyLength),
    };
  }

  /** Checker: the verdict on the job taken last. */
  judge(isValid: boolean): void {
    const done = Atomics.load(this.control, DONE);
    this.bytes[(done & (SLOTS - 1)) * SLOT_BYTES + VERDICT] = isValid ? 1 : 0;
    const next = (done + 1) | 0;
    Atomics.store(this.control, DONE, next);
    this.unnotified++;
    if (this.unnotified < VERDICTS_PER_NOTIFY && Atomics.load(this.control, HEAD) !== next) return;
    this.unnotified = 0;
    Atomics.notify(this.control, DONE);
  }
}
