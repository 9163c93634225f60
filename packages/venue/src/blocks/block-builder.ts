/**
 * Builds the chain of blocks from every command's events, in order. The engine decides when a block is
 * sealed, and its number, bounds, count and time; if the builder counted something else it throws
 * `BlockFault`, which stops the replica.
 *
 * The open block's event bytes are kept until it is sealed, because a partial hash cannot be
 * serialised: a snapshot taken in the middle of a block holds the bytes instead.
 */
import { createHash, type Hash } from "node:crypto";
import { EVENT, type EventLog } from "@perpgate/engine";
import {
  CANCEL_LEAF_BYTES,
  isPlainLeaf,
  LEAF_BYTES,
  PLAIN_LEAF_BYTES,
  RESERVES_LEAF_BYTES,
  WITHDRAWAL_LEAF_BYTES,
} from "@perpgate/protocol/core";
import {
  ACKNOWLEDGED,
  CANCEL_ACKNOWLEDGED,
  eventWords,
  RESERVES_COMMITTED,
  SEALED,
  WITHDRAWAL_ACKNOWLEDGED,
} from "../event-fields.js";
import { AckList } from "./ack-list.js";
import { NO_PARENT, type SealedBlock, seal } from "./block-header.js";
import { type HashText, MerkleAccumulator } from "./merkle.js";

/** The open block as a snapshot holds it. */
interface OpenBlock {
  readonly number: number;
  readonly firstPosition: number;
  readonly parentHash: Buffer;
  /** The canonical bytes of its events so far. */
  readonly events: Uint8Array;
}

class BlockFault extends Error {
  override readonly name = "BlockFault";
}

const FIRST_BLOCK: OpenBlock = {
  number: 1,
  firstPosition: 1,
  parentHash: NO_PARENT,
  events: new Uint8Array(0),
};
const INITIAL_BYTES = 64 * 1024;

export class BlockBuilder {
  /** Number of the block that the last command belongs to. */
  currentNumber: number;
  /** RFC 6962 hash of the last acknowledgement's leaf, in latin1. */
  lastLeafHash: HashText = "";
  private number: number;
  private firstPosition: number;
  private parentHash: Buffer;
  private bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  private length = 0;
  private hashed = 0;
  private hash: Hash = createHash("sha256");
  private acks = new MerkleAccumulator();
  private list = new AckList();

  constructor(open: OpenBlock = FIRST_BLOCK) {
    this.number = open.number;
    this.currentNumber = open.number;
    this.firstPosition = open.firstPosition;
    this.parentHash = open.parentHash;
    this.append(open.events);
    // Copied, since a snapshot's bytes need not be aligned for doubles.
    const words = new Float64Array(new Uint8Array(open.events).buffer);
    this.take(words, words.length);
  }

  /** Adds a command's events; returns the block if the command sealed one. */
  onCommand(seq: number, events: EventLog): SealedBlock | null {
    this.currentNumber = this.number;
    this.append(events.bytes());
    const sealedAt = this.take(events.words, events.length);
    return sealedAt < 0 ? null : this.seal(seq, events.words, sealedAt);
  }

  /** Acknowledgements of the open block so far. */
  get openAcks(): number {
    return this.acks.count;
  }

  /** Hash of the last sealed block; zeros before the first. */
  get lastHash(): Buffer {
    return this.parentHash;
  }

  open(): OpenBlock {
    return {
      number: this.number,
      firstPosition: this.firstPosition,
      parentHash: this.parentHash,
      events: this.bytes.subarray(0, this.length),
    };
  }

  /** Adds the acknowledgements to the tree; returns the offset of the BlockSealed event, or −1. */
  private take(words: Float64Array, length: number): number {
    let sealedAt = -1;
    for (let at = 0; at < length; at += eventWords(words[at]!)) {
      const kind = words[at]!;
      if (kind === EVENT.OrderAcknowledged) {
        this.add(words, at, ACKNOWLEDGED.block, ACKNOWLEDGED.ackNonce);
      } else if (kind === EVENT.CancelAcknowledged) {
        this.add(words, at, CANCEL_ACKNOWLEDGED.block, CANCEL_ACKNOWLEDGED.ackNonce);
      } else if (kind === EVENT.WithdrawalAcknowledged) {
        this.add(words, at, WITHDRAWAL_ACKNOWLEDGED.block, WITHDRAWAL_ACKNOWLEDGED.withdrawalId);
      } else if (kind === EVENT.ReservesCommitted) {
        this.add(words, at, RESERVES_COMMITTED.block, RESERVES_COMMITTED.commitment);
      } else if (kind === EVENT.BlockSealed) {
        sealedAt = at;
      }
    }
    return sealedAt;
  }

  /** `block` and `seq`: offsets of the fields. */
  private add(words: Float64Array, at: number, block: number, seq: number): void {
    if (words[at + block] !== this.number) {
      throw new BlockFault(
        `an acknowledgement names block ${words[at + block]}, ${this.number} is open`,
      );
    }
    this.lastLeafHash = this.acks.add(leafAt(words, at));
    this.list.add(words[at + seq]!, this.lastLeafHash);
  }

  private seal(seq: number, words: Float64Array, at: number): SealedBlock {
    this.agree("number", words[at + SEALED.number]!, this.number);
    this.agree("first position", words[at + SEALED.firstPosition]!, this.firstPosition);
    this.agree("last position", words[at + SEALED.lastPosition]!, seq);
    this.agree("acknowledgements", words[at + SEALED.ackCount]!, this.acks.count);
    const block = seal({
      number: this.number,
      parentHash: this.parentHash,
      firstPosition: this.firstPosition,
      lastPosition: seq,
      ackCount: this.acks.count,
      acksRoot: this.acks.root(),
      ackListHash: this.list.hash(),
      eventsHash: this.hash.update(this.bytes.subarray(this.hashed, this.length)).digest(),
      timeMs: words[at + SEALED.timeMs]!,
    });
    this.number++;
    this.firstPosition = seq + 1;
    this.parentHash = block.hash;
    this.length = 0;
    this.hashed = 0;
    this.hash = createHash("sha256");
    this.acks = new MerkleAccumulator();
    this.list.clear();
    return block;
  }

  private agree(what: string, said: number, counted: number): void {
    if (said === counted) return;
    throw new BlockFault(`block ${this.number}: ${what} ${said}, counted ${counted}`);
  }

  private append(events: Uint8Array): void {
    const end = this.length + events.length;
    if (end > this.bytes.length) {
      const wider = Buffer.allocUnsafeSlow(Math.max(end, this.bytes.length * 2));
      wider.set(this.bytes.subarray(0, this.length));
      this.bytes = wider;
    }
    this.bytes.set(events, this.length);
    this.length = end;
    // In pieces, so that sealing a full block does not hash all of it in one call.
    if (end - this.hashed >= INITIAL_BYTES / 2) {
      this.hash.update(this.bytes.subarray(this.hashed, end));
      this.hashed = end;
    }
  }
}

/** A leaf: the canonical bytes of an acknowledgement's event, kind included. */
export function leafAt(words: Float64Array, at: number): Uint8Array {
  if (words[at] === EVENT.CancelAcknowledged) {
    return new Uint8Array(words.buffer, words.byteOffset + at * 8, CANCEL_LEAF_BYTES);
  }
  if (words[at] === EVENT.WithdrawalAcknowledged) {
    return new Uint8Array(words.buffer, words.byteOffset + at * 8, WITHDRAWAL_LEAF_BYTES);
  }
  if (words[at] === EVENT.ReservesCommitted) {
    return new Uint8Array(words.buffer, words.byteOffset + at * 8, RESERVES_LEAF_BYTES);
  }
  const { orderId, ackNonce, client1 } = ACKNOWLEDGED;
  const isPlain = isPlainLeaf(words[at + orderId]!, words[at + ackNonce]!, words[at + client1]!);
  const bytes = isPlain ? PLAIN_LEAF_BYTES : LEAF_BYTES;
  return new Uint8Array(words.buffer, words.byteOffset + at * 8, bytes);
}
