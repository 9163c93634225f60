/**
 * A receipt: the signature of a gateway over what it acknowledged (docs/receipts.md has every byte).
 *
 * The statement is the leaf of a tree over one durable batch; the receipt key signs the tree's root, and
 * the log key certifies the receipt key. A receipt on the wire leaves out what its owner has: the venue's
 * id, the position and the expected block, the request, the address. Little-endian throughout.
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { pathLength } from "../blocks/merkle-path.js";
import { isCount } from "../numbers/integers.js";
import { ByteReader, base64Url, bytesFromBase64Url, joinBytes, u64, varint } from "./bytes.js";
import { TREE_HASH_BYTES } from "./tree.js";

export const STATEMENT_BYTES = 188;
const STATEMENT_TAG = new TextEncoder().encode("PGRCPT01");
const ROOT_TAG = new TextEncoder().encode("PGROOT01");
/** The zero byte can be in no signed note, so neither can pass for the other. */
const CERTIFICATE_TAG = new TextEncoder().encode("\0PGRKEY1");
const RECEIPT_VERSION = 1;
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const TIME_BYTES = 6;

/** Offsets within a statement. */
export const STATEMENT = {
  venueId: 8,
  position: 40,
  requestHash: 48,
  address: 80,
  session: 100,
  leafHash: 108,
  block: 140,
  timeMs: 148,
  lastBlockHash: 156,
} as const;

/** What a gateway signs, as it was when the order was applied. */
export interface ReceiptStatement {
  /** SHA-256 of the log's first record, Genesis. */
  readonly venueId: Uint8Array;
  /** The log position of the command: `ackNonce`. */
  readonly position: number;
  /** SHA-256 of the body that was sent. */
  readonly requestHash: Uint8Array;
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** The log position of the sign-in. */
  readonly session: number;
  /** RFC 6962 hash of the acknowledgement's leaf. */
  readonly leafHash: Uint8Array;
  /** `expectedBlock`. */
  readonly block: number;
  /** Time of the log, Unix milliseconds. */
  readonly timeMs: number;
  /** Of block `block` − 1; zeros before the first. */
  readonly lastBlockHash: Uint8Array;
}

/** What the owner of a receipt knows and the receipt leaves out. */
export type ReceiptContext = Pick<
  ReceiptStatement,
  "venueId" | "position" | "requestHash" | "address" | "block"
>;

/** A receipt with all of its statement. */
export interface Receipt {
  readonly statement: ReceiptStatement;
  /** The statement's place in the tree of its batch. */
  readonly index: number;
  readonly size: number;
  readonly path: readonly Uint8Array[];
  /** By the receipt key, over `signedRoot`. */
  readonly signature: Uint8Array;
  readonly receiptKey: Uint8Array;
  /** By the log key, over `certifiedBytes`. */
  readonly certificate: Uint8Array;
}

export function statementBytes(statement: ReceiptStatement): Uint8Array<ArrayBuffer> {
  const bytes = joinBytes(
    STATEMENT_TAG,
    statement.venueId,
    u64(statement.position),
    statement.requestHash,
    statement.address,
    u64(statement.session),
    statement.leafHash,
    u64(statement.block),
    u64(statement.timeMs),
    statement.lastBlockHash,
  );
  if (bytes.length !== STATEMENT_BYTES)
    throw new RangeError(`a statement of ${bytes.length} bytes`);
  return bytes;
}

/** What the receipt key signs for a batch. */
export function signedRoot(size: number, root: Uint8Array): Uint8Array<ArrayBuffer> {
  return joinBytes(ROOT_TAG, u64(size), root);
}

/** What the log key signs for a receipt key. */
export function certifiedBytes(
  venueId: Uint8Array,
  receiptKey: Uint8Array,
): Uint8Array<ArrayBuffer> {
  return joinBytes(CERTIFICATE_TAG, venueId, receiptKey);
}

/** The text of an acknowledgement's `receipt`. */
export function encodeReceipt(receipt: Receipt): string {
  const { statement, index, size, path, signature, receiptKey, certificate } = receipt;
  return base64Url(
    joinBytes(
      Uint8Array.of(RECEIPT_VERSION),
      varint(statement.session),
      u64(statement.timeMs).subarray(0, TIME_BYTES),
      statement.leafHash,
      statement.lastBlockHash,
      varint(index),
      varint(size),
      ...path,
      signature,
      receiptKey,
      certificate,
    ),
  );
}

/** The receipt, completed by what its owner knows; undefined if one of the two is malformed. */
export function decodeReceipt(text: string, context: ReceiptContext): Receipt | undefined {
  const bytes = bytesFromBase64Url(text);
  if (bytes === undefined || !fitsStatement(context)) return undefined;
  try {
    return readReceipt(new ByteReader(bytes), context);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function fitsStatement(context: ReceiptContext): boolean {
  const { venueId, position, requestHash, address, block } = context;
  if (!isCount(position) || !isCount(block)) return false;
  return venueId.length === 32 && requestHash.length === 32 && address.length === 20;
}

function readReceipt(reader: ByteReader, context: ReceiptContext): Receipt | undefined {
  if (reader.count(1) !== RECEIPT_VERSION) return undefined;
  const session = reader.varint();
  const timeMs = reader.count(TIME_BYTES);
  const leafHash = reader.take(TREE_HASH_BYTES);
  const lastBlockHash = reader.take(TREE_HASH_BYTES);
  const index = reader.varint();
  const size = reader.varint();
  if (index >= size) return undefined;
  const path = Array.from({ length: pathLength(index, size) }, () => reader.take(TREE_HASH_BYTES));
  const signature = reader.take(SIGNATURE_BYTES);
  const receiptKey = reader.take(KEY_BYTES);
  const certificate = reader.take(SIGNATURE_BYTES);
  if (reader.left > 0) return undefined;
  const { venueId, position, requestHash, address, block } = context;
  const known = { venueId, position, requestHash, address, block };
  const statement = { ...known, session, leafHash, timeMs, lastBlockHash };
  return { statement, index, size, path, signature, receiptKey, certificate };
}

export function requestHashOf(body: string | Uint8Array): Uint8Array {
  return sha256(typeof body === "string" ? new TextEncoder().encode(body) : body);
}
