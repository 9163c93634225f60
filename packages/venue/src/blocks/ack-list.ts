/**
 * The list of a block's acknowledgements, of which the header holds the hash: seq and leaf hash of each,
 * as the protocol's `receipts/ack-list.ts` defines the bytes.
 */
import { ACK_ENTRY_BYTES } from "@perpgate/protocol/receipts";
import { type HashText, sha256 } from "./merkle.js";

const INITIAL_ENTRIES = 64;

export class AckList {
  private bytes = Buffer.allocUnsafeSlow(INITIAL_ENTRIES * ACK_ENTRY_BYTES);
  private length = 0;

  add(seq: number, hash: HashText): void {
    const at = this.length;
    if (at === this.bytes.length) {
      const wider = Buffer.allocUnsafeSlow(2 * at);
      wider.set(this.bytes);
      this.bytes = wider;
    }
    writeSeq(this.bytes, at, seq);
    this.bytes.write(hash, at + 8, "binary");
    this.length = at + ACK_ENTRY_BYTES;
  }

  hash(): Buffer {
    return sha256(this.encoded);
  }

  /** Valid until the next change. */
  get encoded(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }
}

const U32 = 2 ** 32;

function writeSeq(bytes: Buffer, at: number, seq: number): void {
  bytes.writeUInt32LE(seq % U32, at);
  bytes.writeUInt32LE(Math.floor(seq / U32), at + 4);
}
