/**
 * What an attestor has signed for vaults, on its disk before any signature leaves. An id has one data for good,
 * and the amounts of the last hour and day are kept within the vault's caps also across restarts. One line of
 * JSON for each id; a line without an end was never acted upon. One process at a time has the file: two would
 * count the caps twice.
 */

import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { openLockedFile } from "@perpgate/journal";

interface SignedPayment {
  readonly id: number;
  /** The hash that was signed, 0x and 64 digits. */
  readonly digest: string;
  /** Chain id, vault and contract. */
  readonly scope: string;
  /** In the token's smallest units, as decimal digits. */
  readonly amount: string;
  readonly atMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export class SigningRecordDamaged extends Error {
  override readonly name = "SigningRecordDamaged";
}

/** Of the file system. */
export interface RecordWriter {
  readonly write: (file: number, bytes: Uint8Array) => number;
  readonly sync: (file: number) => void;
}

const DISK: RecordWriter = { write: writeSync, sync: fsyncSync };

export class SigningRecord {
  private readonly byId = new Map<string, SignedPayment>();
  private readonly file: number;
  /** Whole lines. */
  private bytes: number;
  private isOpen = true;
  /** False after a line that could be neither synced nor taken back. */
  private isUsable = true;

  /**
   * Creates the file for its owner alone. @throws SigningRecordDamaged if a whole line cannot be read, or if
   * another process has the file.
   */
  constructor(
    path: string,
    private readonly disk = DISK,
  ) {
    const { O_APPEND, O_CREAT, O_RDWR } = constants;
    const file = openLockedFile(path, O_APPEND | O_CREAT | O_RDWR);
    if (file === undefined) {
      throw new SigningRecordDamaged(`${path}: another process signs with this record`);
    }
    this.file = file;
    const text = readFileSync(this.file, "utf8");
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    for (const line of whole.split("\n").filter((each) => each !== "")) {
      const payment = paymentOf(line);
      if (payment === undefined) {
        this.close();
        throw new SigningRecordDamaged(`${path}: a line cannot be read`);
      }
      this.byId.set(keyOf(payment), payment);
    }
    this.bytes = Buffer.byteLength(whole);
    ftruncateSync(this.file, this.bytes);
    syncFolder(dirname(path));
  }

  close(): void {
    if (this.isOpen) closeSync(this.file);
    this.isOpen = false;
  }

  /** The digest that was signed for an id of a scope's vault. */
  digestOf(payment: Pick<SignedPayment, "id" | "scope">): string | undefined {
    return this.byId.get(keyOf(payment))?.digest;
  }

  /** Signed amounts of a scope in the hour, and in the day, before `nowMs`. */
  signed(scope: string, nowMs: number): { readonly hour: bigint; readonly day: bigint } {
    let [hour, day] = [0n, 0n];
    for (const payment of this.byId.values()) {
      const ageMs = nowMs - payment.atMs;
      if (payment.scope !== scope || ageMs >= DAY_MS) continue;
      day += BigInt(payment.amount);
      if (ageMs < HOUR_MS) hour += BigInt(payment.amount);
    }
    return { hour, day };
  }

  /** Returns once it is on the disk. @throws if the id has another digest. */
  add(payment: SignedPayment): void {
    const known = this.digestOf(payment);
    if (known === payment.digest) return;
    if (known !== undefined) {
      throw new Error(`withdrawal ${payment.id} was signed with other data before`);
    }
    this.append(Buffer.from(`${JSON.stringify(payment)}\n`));
    this.byId.set(keyOf(payment), payment);
  }

  /** The whole line, or nothing of it: the next one must not be appended to a part. */
  private append(line: Uint8Array): void {
    if (!this.isUsable) throw new Error("the record could not be written; start the process again");
    const { disk, file } = this;
    this.isUsable = false;
    const written = this.written(line);
    if (written !== line.length) {
      ftruncateSync(file, this.bytes);
      this.isUsable = true;
      throw new Error(`the record took ${written} of ${line.length} bytes: is its disk full?`);
    }
    // What a sync that failed has left is not known, and not written over.
    disk.sync(file);
    this.bytes += line.length;
    this.isUsable = true;
  }

  /** Bytes that were written; 0 if it failed. */
  private written(line: Uint8Array): number {
    try {
      return this.disk.write(this.file, line);
    } catch {
      return 0;
    }
  }
}

/** So that a power cut does not lose the file's name. */
function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  fsyncSync(folder);
  closeSync(folder);
}

/** An id is signed once for a vault, whatever its token. */
function keyOf({ id, scope }: Pick<SignedPayment, "id" | "scope">): string {
  return `${scope.split(" ").slice(0, 2).join(" ")} ${id}`;
}

function paymentOf(line: string): SignedPayment | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { id, digest, scope, amount, atMs }: Partial<Record<string, unknown>> = Object(value);
  if (typeof digest !== "string" || typeof scope !== "string" || typeof amount !== "string") {
    return undefined;
  }
  const isRead =
    Number.isSafeInteger(id) &&
    Number.isSafeInteger(atMs) &&
    /^0x[0-9a-f]{64}$/.test(digest) &&
    /^\d+$/.test(amount);
  return isRead ? { id: Number(id), digest, scope, amount, atMs: Number(atMs) } : undefined;
}
