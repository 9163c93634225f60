/**
 * Format of one message of the replicated log: one batch, with what its writer claims about the log
 * before it. Little-endian:
 *
 *      0  4 bytes   "PGM1", or "PGM2" of a core that leads, or claims to
 *      4  16 bytes  writer; PGM2: the run of the core's process
 *     20  u64       counter: which of the writer's batches this is; PGM2: the epoch
 *     28  u64       claim: the stream sequence s of the last message that the writer applied; 0: none.
 *                   PGM2: the message before this one
 *     36  32 bytes  claim: c(s), the chain over the messages 1 … s; zeros if s is 0
 *     68  u64       number of the writer's last block
 *     76  32 bytes  hash of that block
 *    108  u32       number of records
 *    112  per record: u32 length, then its bytes
 *
 * A message has exactly one encoding: integers are at most 2^53 − 1, and the records end where the
 * message ends. The message has no checksum of its own; the chain covers every byte of it.
 */

import { BatchRefused, JournalError } from "./errors.js";
import { readU53, writeU53 } from "./u53.js";

/** What NATS accepts by default (1 MiB), less room for headers and for the mirror's framing. */
export const MAX_MESSAGE_BYTES = 1024 * 1024 - 4 * 1024;

export const CHAIN_BYTES = 32;
const BLOCK_HASH_BYTES = 32;

const MAGIC = "PGM1";
const FENCED_MAGIC = "PGM2";
/** Formats of later releases: the same letters and a greater digit. */
const NEWER = /^PGM[3-9]$/;
const WRITER_BYTES = 16;
const HEADER_BYTES = 112;
const WRITER = /^[0-9a-f]{32}$/;

export interface Message {
  /** 32 lower-case hex digits. */
  readonly writer: string;
  readonly counter: number;
  /** Set if its writer leads, or claims to: the stream has stored it behind the claim, or not at all. */
  readonly isFenced?: true;
  /** The last message that the writer had applied, and the chain up to it. */
  readonly claim: { readonly seq: number; readonly chain: Uint8Array };
  /** The writer's last block. */
  readonly block: { readonly number: number; readonly hash: Uint8Array };
  readonly records: readonly Uint8Array[];
}

/** A message of a format that only a newer release reads. The reader must stop, not skip it. */
export class UnknownMessage extends JournalError {
  readonly format: string;

  constructor(format: string) {
    super(
      "unknown_message",
      `a message of format ${format}; this release reads ${MAGIC} and ${FENCED_MAGIC}: upgrade this gateway`,
    );
    this.format = format;
  }
}

export function messageBytes(records: readonly Uint8Array[]): number {
  let bytes = HEADER_BYTES + 4 * records.length;
  for (const record of records) bytes += record.length;
  return bytes;
}

/** Throws `BatchRefused` when a field is out of range or the message is too large. */
export function encodeMessage(message: Message): Uint8Array {
  const { writer, counter, claim, block, records, isFenced } = message;
  const length = messageBytes(records);
  check(message, length);
  const bytes = Buffer.allocUnsafe(length);
  bytes.write(isFenced === true ? FENCED_MAGIC : MAGIC, 0, "latin1");
  bytes.write(writer, 4, "hex");
  writeU53(bytes, 20, counter);
  writeU53(bytes, 28, claim.seq);
  bytes.set(claim.chain, 36);
  writeU53(bytes, 68, block.number);
  bytes.set(block.hash, 76);
  bytes.writeUInt32LE(records.length, 108);
  let at = HEADER_BYTES;
  for (const record of records) {
    bytes.writeUInt32LE(record.length, at);
    bytes.set(record, at + 4);
    at += 4 + record.length;
  }
  return bytes;
}

/**
 * The message, or undefined if these bytes are not exactly one. Its fields are views, not copies.
 *
 * @throws UnknownMessage when a newer release wrote it.
 */
export function decodeMessage(encoded: Uint8Array): Message | undefined {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const magic = bytes.toString("latin1", 0, 4);
  if (NEWER.test(magic)) throw new UnknownMessage(magic);
  const isFenced = magic === FENCED_MAGIC;
  if (
    !(magic === MAGIC || isFenced) ||
    bytes.length < HEADER_BYTES ||
    bytes.length > MAX_MESSAGE_BYTES
  ) {
    return undefined;
  }
  const message = {
    writer: bytes.toString("hex", 4, 4 + WRITER_BYTES),
    counter: readU53(bytes, 20),
    claim: { seq: readU53(bytes, 28), chain: view(bytes, 36, CHAIN_BYTES) },
    block: { number: readU53(bytes, 68), hash: view(bytes, 76, BLOCK_HASH_BYTES) },
  };
  const numbers = [message.counter, message.claim.seq, message.block.number];
  if (!numbers.every(Number.isSafeInteger)) return undefined;
  const records = decodeRecords(bytes);
  if (records === undefined) return undefined;
  return isFenced ? { ...message, records, isFenced } : { ...message, records };
}

/** Undefined unless the records fill the message exactly. */
function decodeRecords(bytes: Buffer): Uint8Array[] | undefined {
  const count = bytes.readUInt32LE(108);
  const records: Uint8Array[] = [];
  let at = HEADER_BYTES;
  for (let index = 0; index < count; index++) {
    if (at + 4 > bytes.length) return undefined;
    const length = bytes.readUInt32LE(at);
    at += 4;
    if (at + length > bytes.length) return undefined;
    records.push(view(bytes, at, length));
    at += length;
  }
  return at === bytes.length ? records : undefined;
}

function view(bytes: Buffer, at: number, length: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + at, length);
}

function check({ writer, counter, claim, block }: Message, length: number): void {
  if (length > MAX_MESSAGE_BYTES) {
    const text = `a message takes ${MAX_MESSAGE_BYTES} bytes at most, this one has ${length}`;
    throw new BatchRefused("batch_too_large", text);
  }
  if (!WRITER.test(writer)) {
    throw new BatchRefused("writer_invalid", `a writer is 32 hex digits, not "${writer}"`);
  }
  if (!Number.isSafeInteger(counter) || counter < 0) {
    const text = `a counter is 0 … 2^53 − 1, not ${counter}`;
    throw new BatchRefused("counter_out_of_range", text);
  }
  const isPosition = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
  if (!isPosition(claim.seq) || claim.chain.length !== CHAIN_BYTES) {
    throw new RangeError(`a claim needs a sequence and ${CHAIN_BYTES} bytes of chain`);
  }
  if (!isPosition(block.number) || block.hash.length !== BLOCK_HASH_BYTES) {
    throw new RangeError(`a block needs a number and ${BLOCK_HASH_BYTES} bytes of hash`);
  }
}
