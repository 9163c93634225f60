/**
 * How a gateway's mirror, a file journal, stores one delivered message of the replicated log: a batch
 * with the id { writer: MIRROR_WRITER, counter: stream sequence − 1 } and exactly one record.
 * Little-endian:
 *
 *      0  u8        verdict: 0 sound, 1 malformed, 2 chain
 *      1  32 bytes  c(q), the chain up to and including this message
 *     33  u16       length of the subject
 *     35  subject, UTF-8; then the message as it was delivered, up to the record's end
 *
 * Messages that are dropped are stored too, since the chain covers them and `cluster reseed`
 * publishes every one again.
 */

import { BatchRefused } from "./errors.js";
import type { Batch } from "./journal.js";
import { CHAIN_BYTES, decodeMessage } from "./message.js";

/** A message may claim one of this many before it; a mirror keeps as many, to check such claims. */
export const CLAIM_WINDOW = 65_536;
/** No gateway has it: a writer's id is random. */
export const MIRROR_WRITER = "f".repeat(32);

/**
 * sound: its records are applied, if the engine accepts the batch. malformed: not one message, or on
 * another subject than its writer's. chain: its claim contradicts the log before it.
 */
export type MessageVerdict = "sound" | "malformed" | "chain";

const VERDICTS: readonly MessageVerdict[] = ["sound", "malformed", "chain"];
const CHAIN_AT = 1;
const SUBJECT_AT = 35;
const MAX_SUBJECT_BYTES = 65_535;

export interface Mirrored {
  readonly verdict: MessageVerdict;
  /** c(q). */
  readonly chain: Uint8Array;
  readonly subject: string;
  readonly message: Uint8Array;
}

/** The id of the mirror's batch for the message at this stream sequence, which begins at 1. */
export function mirroredId(sequence: number): { writer: string; counter: number } {
  return { writer: MIRROR_WRITER, counter: sequence - 1 };
}

/** Throws `BatchRefused` when the subject is too long, which no server accepts by default. */
export function encodeMirrored({ verdict, chain, subject, message }: Mirrored): Uint8Array {
  if (chain.length !== CHAIN_BYTES) throw new RangeError(`a chain has ${CHAIN_BYTES} bytes`);
  const subjectBytes = Buffer.byteLength(subject);
  if (subjectBytes > MAX_SUBJECT_BYTES) {
    const text = `a subject takes ${MAX_SUBJECT_BYTES} bytes at most, this one has ${subjectBytes}`;
    throw new BatchRefused("batch_too_large", text);
  }
  const bytes = Buffer.allocUnsafe(SUBJECT_AT + subjectBytes + message.length);
  bytes[0] = VERDICTS.indexOf(verdict);
  bytes.set(chain, CHAIN_AT);
  bytes.writeUInt16LE(subjectBytes, CHAIN_AT + CHAIN_BYTES);
  bytes.write(subject, SUBJECT_AT, "utf8");
  bytes.set(message, SUBJECT_AT + subjectBytes);
  return bytes;
}

/** The stored message, or undefined if these bytes are not one. Chain and message are views. */
export function decodeMirrored(encoded: Uint8Array): Mirrored | undefined {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  if (bytes.length < SUBJECT_AT) return undefined;
  const verdict = VERDICTS[bytes.readUInt8(0)];
  const messageAt = SUBJECT_AT + bytes.readUInt16LE(CHAIN_AT + CHAIN_BYTES);
  if (verdict === undefined || messageAt > bytes.length) return undefined;
  return {
    verdict,
    chain: encoded.subarray(CHAIN_AT, CHAIN_AT + CHAIN_BYTES),
    subject: bytes.toString("utf8", SUBJECT_AT, messageAt),
    message: encoded.subarray(messageAt),
  };
}

/**
 * The batch in the message that a mirror's batch holds, at the mirror's place in the log; undefined if
 * the batch is no such thing.
 */
export function unwrapMirrored({ id, seq, end, records }: Batch): Batch | undefined {
  const stored = records.length === 1 ? decodeMirrored(records[0]!) : undefined;
  if (stored === undefined) return undefined;
  return batchOf(stored, { id, seq, end });
}

/** The batch in a delivered message, as those that apply the log see it. */
export function batchOf(
  { verdict, message }: Pick<Mirrored, "verdict" | "message">,
  { id, seq, end }: Pick<Batch, "id" | "seq" | "end">,
): Batch {
  const read = verdict === "malformed" ? undefined : decodeMessage(message);
  if (read === undefined) return { id, seq, end, records: [], isUnfit: true };
  const original = { writer: read.writer, counter: read.counter };
  if (verdict !== "sound") return { id: original, seq, end, records: [], isUnfit: true };
  return { id: original, seq, end, records: read.records };
}
