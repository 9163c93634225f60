/** The row of an acknowledgement: its leaf, the digest of the signed body, the log's time. */
import { hash } from "node:crypto";
import { HASH_BYTES } from "../blocks/block-header.js";
import { HistoryDamaged } from "../venue-errors.js";

export interface AckRow {
  readonly seq: number;
  /** The canonical bytes of the acknowledgement's event: the leaf of the block's tree. */
  readonly leaf: Buffer;
  /** SHA-256 of the body stored with this command: of an empty one within a batch, after its first. */
  readonly digest: Buffer;
  readonly timeMs: number;
}

const TIME_BYTES = 8;

export function encodeAck(leaf: Uint8Array, digest: Uint8Array, timeMs: number): Buffer {
  const row = Buffer.allocUnsafe(leaf.length + HASH_BYTES + TIME_BYTES);
  row.set(leaf, 0);
  row.set(digest, leaf.length);
  row.writeDoubleLE(timeMs, leaf.length + HASH_BYTES);
  return row;
}

/** As `encodeAck` with the digest of `signed`, which as text costs half of one in a buffer of its own. */
export function encodeSignedAck(leaf: Uint8Array, signed: Uint8Array, timeMs: number): Buffer {
  const row = Buffer.allocUnsafe(leaf.length + HASH_BYTES + TIME_BYTES);
  row.set(leaf, 0);
  row.write(hash("sha256", signed, "binary"), leaf.length, "binary");
  row.writeDoubleLE(timeMs, leaf.length + HASH_BYTES);
  return row;
}

/** @throws HistoryDamaged for bytes that no projection writes. */
export function decodeAck(seq: number, row: Buffer): AckRow {
  const split = row.length - HASH_BYTES - TIME_BYTES;
  if (split <= 0) throw new HistoryDamaged(`the acknowledgement at ${seq} is cut short`);
  return {
    seq,
    leaf: row.subarray(0, split),
    digest: row.subarray(split, split + HASH_BYTES),
    timeMs: row.readDoubleLE(split + HASH_BYTES),
  };
}
