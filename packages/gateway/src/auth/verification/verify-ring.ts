/**
 * The ring between the thread that answers clients and one that checks signatures, in memory that
 * both share: jobs go in at the head in order, verdicts come out in the same order.
 *
 * A job is copied into a slot of fixed size (key, signature, body), and its verdict takes one byte
 * of it. Head and done are running counts modulo 2^32, each with one writer. Neither side is woken
 * while it is awake: a wake-up costs a system call, and under load there is always more to do.
 */

/** Jobs taken in so far. */
const HEAD = 0;
/** Jobs judged so far. */
const DONE = 1;
/** 1 while the checking side sleeps, or is about to. */
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
 * Verdicts that are told together while more jobs wait. Each telling wakes the other side, which then
 * wakes the log for what it was told; of a burst, a few share all of that. A job that is alone is
 * told at once.
 */
const TOLD_TOGETHER = 4;

/** An order's body takes about 200 bytes; what is longer than this is checked elsewhere. */
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

/** A job as the checking side sees it: views into the ring, valid until the verdict. */
export interface VerifyJob {
  readonly rawKey: Buffer;
  readonly signature: Buffer;
  readonly body: Buffer;
}

export class VerifyRing {
  private readonly control: Int32Array<SharedArrayBuffer>;
  private readonly bytes: Buffer;
  /** The sender's own counts: of what it has put in, and of the verdicts it has read. */
  private head: number;
  private read: number;
  /** The checking side's own count: of verdicts that nobody was woken for. */
  private untold = 0;

  constructor(memory: VerifyMemory) {
    this.control = new Int32Array(memory.control);
    this.bytes = Buffer.from(memory.slots);
    this.head = Atomics.load(this.control, HEAD);
    this.read = Atomics.load(this.control, DONE);
  }

  /** Puts a job in; false if there is no room. The checking side sees it when it is awake. */
  offer(rawKey: Uint8Array, signature: Uint8Array, body: Uint8Array): boolean {
    // A slot is free once its verdict was read, not when it was given.
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

  /** Wakes the checking side if it sleeps. */
  wake(): void {
    if (Atomics.load(this.control, ASLEEP) !== 0) Atomics.notify(this.control, HEAD);
  }

  /** The oldest verdict that was not read yet, or undefined. */
  nextVerdict(): boolean | undefined {
    if (this.read === Atomics.load(this.control, DONE)) return undefined;
    const isValid = this.bytes[(this.read & (SLOTS - 1)) * SLOT_BYTES + VERDICT] === 1;
    this.read = (this.read + 1) | 0;
    return isValid;
  }

  /** Resolves when there is a verdict to read, or on `wakeWatcher`. */
  async verdictThere(): Promise<void> {
    const wait = Atomics.waitAsync(this.control, DONE, this.read);
    if (wait.async) await wait.value;
  }

  /** Ends a wait of `verdictThere` that nothing else would end. */
  wakeWatcher(): void {
    Atomics.notify(this.control, DONE);
  }

  /** The checking side: sleeps until there is a job, then answers it. */
  take(): VerifyJob {
    const done = Atomics.load(this.control, DONE);
    while (Atomics.load(this.control, HEAD) === done) {
      // Said before the last look: a sender that saw it awake has put its job in before that look.
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

  /** The checking side: the verdict on the job taken last. */
  judge(isValid: boolean): void {
    const done = Atomics.load(this.control, DONE);
    this.bytes[(done & (SLOTS - 1)) * SLOT_BYTES + VERDICT] = isValid ? 1 : 0;
    const next = (done + 1) | 0;
    Atomics.store(this.control, DONE, next);
    this.untold++;
    if (this.untold < TOLD_TOGETHER && Atomics.load(this.control, HEAD) !== next) return;
    this.untold = 0;
    Atomics.notify(this.control, DONE);
  }
}
