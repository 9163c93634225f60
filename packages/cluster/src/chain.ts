/**
 * The chain: c(q) = SHA-256(c(q−1) ‖ subject ‖ message q), with c(0) = 32 zero bytes. Every message
 * carries its writer's c(s); two replicas with equal c(s) hold the same messages 1 … s.
 *
 * Keeps the last 65,536 values, which is as far back as a claim may reach.
 */

import { createHash } from "node:crypto";
import { CHAIN_BYTES, CLAIM_WINDOW } from "@perpgate/journal";
import { ClusterError } from "./errors.js";

export const CHAIN_START: Uint8Array = new Uint8Array(CHAIN_BYTES);

export function nextLink(previous: Uint8Array, subject: string, message: Uint8Array): Uint8Array {
  return createHash("sha256").update(previous).update(subject).update(message).digest();
}

type ClaimFault =
  /** The claim is about this message or a later one. */
  | "from the future"
  /** Too old to be compared. */
  | "too old"
  /** The writer had other messages than this replica. */
  | "differs";

export class MessageChain {
  private readonly values: Buffer;
  private oldest: number;
  private lastSeq: number;

  /** Begins at `last`; `tail` holds the values up to and including c(last), the oldest first. */
  constructor(
    last: number,
    tail: readonly Uint8Array[],
    private readonly window = CLAIM_WINDOW,
  ) {
    this.values = Buffer.alloc(window * CHAIN_BYTES);
    const kept = tail.slice(-window);
    const isWhole = kept.length >= Math.min(last, window);
    if (!isWhole || kept.length > last) {
      const text = `the mirror must hold its last ${Math.min(last, window)} messages, but holds`;
      throw new ClusterError(
        "join_needed",
        `${text} ${kept.length}: run \`perpgate cluster join\``,
      );
    }
    this.lastSeq = last;
    this.oldest = last - kept.length + 1;
    // c(0) is known without being stored.
    if (this.oldest === 1) this.oldest = 0;
    kept.forEach((value, index) => {
      this.store(last - kept.length + 1 + index, value);
    });
  }

  get last(): number {
    return this.lastSeq;
  }

  /** c(last), a copy. */
  get head(): Uint8Array {
    return Uint8Array.from(this.at(this.lastSeq) ?? CHAIN_START);
  }

  /** c(seq), a view that is valid until the next message; undefined if it is not kept. */
  at(seq: number): Uint8Array | undefined {
    if (seq > this.lastSeq || seq < this.oldest) return undefined;
    if (seq === 0) return CHAIN_START;
    const at = (seq % this.window) * CHAIN_BYTES;
    return this.values.subarray(at, at + CHAIN_BYTES);
  }

  /** Judges the claim of message q = last + 1. */
  fault(claim: { readonly seq: number; readonly chain: Uint8Array }): ClaimFault | undefined {
    const next = this.lastSeq + 1;
    if (claim.seq >= next) return "from the future";
    if (next - claim.seq > CLAIM_WINDOW) return "too old";
    const known = this.at(claim.seq);
    return known !== undefined && Buffer.compare(known, claim.chain) === 0 ? undefined : "differs";
  }

  /** Appends message last + 1; returns its value. */
  append(subject: string, message: Uint8Array): Uint8Array {
    const value = nextLink(this.at(this.lastSeq) ?? CHAIN_START, subject, message);
    this.lastSeq++;
    this.store(this.lastSeq, value);
    this.oldest = Math.max(this.oldest, this.lastSeq - this.window + 1);
    return value;
  }

  private store(seq: number, value: Uint8Array): void {
    this.values.set(value, (seq % this.window) * CHAIN_BYTES);
  }
}
