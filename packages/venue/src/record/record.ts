/**
 * A record of the log: one normalised command and its evidence.
 *
 * Frequent commands (plain orders and cancels, ticks, index prices) have a compact binary form; the
 * rest are JSON. Layout: version byte, kind byte, the command, then the evidence as three byte strings with
 * their lengths. Little-endian; numbers are doubles holding safe integers.
 */
import {
  type CancelOrder,
  type Command,
  ENGINE_VERSION,
  LIMIT_ORDER,
  MARKET_ORDER,
  type OrderTypeCode,
  type PlaceOrder,
  STOP_ORDER,
  type Tick,
  UnknownToRelease,
  type UpdateIndex,
} from "@perpgate/engine";
import { isExitId } from "@perpgate/protocol/core";
import { hasCommandShape } from "./command-shape.js";

/**
 * Proof that a command was authorised, stored with it in the log, so that anyone can check every order
 * again from the log alone. The engine never reads it.
 */

export interface Evidence {
  /** The exact bytes that were signed: an order's body, a sign-in message, a rotation's body. */
  readonly signed: Uint8Array;
  /** The signature as verified, decoded from its wire form. */
  readonly signature: Uint8Array;
  /** The public key that a sign-in or rotation introduces, as bytes; empty for orders. */
  readonly publicKey: Uint8Array;
}

const NOTHING = new Uint8Array(0);

/** For commands that nobody signs: ticks, index prices, operator commands. */
export const NO_EVIDENCE: Evidence = { signed: NOTHING, signature: NOTHING, publicKey: NOTHING };

export interface LogRecord {
  readonly command: Command;
  readonly evidence: Evidence;
}

export class RecordUnreadable extends Error {
  override readonly name = "RecordUnreadable";
}

/** A command that `decodeRecord` would refuse: every replica would drop its batch, once it is durable. */
export class CommandUnwritable extends Error {
  override readonly name = "CommandUnwritable";
}

const VERSION = 1;
const KIND_JSON = 0;
const KIND_PLACE = 1;
const KIND_CANCEL = 2;
const KIND_TICK = 3;
const KIND_INDEX = 4;
/** A plain cancel with the terms of its request. */
const KIND_CANCEL_ONCE = 5;
const CANCEL_BYTES = 2 + 3 * 8;
const REQUEST_ID_BYTES = 16;
/** Bytes of a key's fingerprint (SHA-256). */
const FINGERPRINT_BYTES = 32;
const ORDER_TYPES: readonly OrderTypeCode[] = [MARKET_ORDER, LIMIT_ORDER, STOP_ORDER];

/** @throws CommandUnwritable */
export function encodeRecord(command: Command, evidence: Evidence = NO_EVIDENCE): Uint8Array {
  switch (command.kind) {
    case "PlaceOrder":
      return isPlain(command) ? encodePlace(command, evidence) : encodeJson(command, evidence);
    case "CancelOrder":
      return isPlain(command) ? encodeCancel(command, evidence) : encodeJson(command, evidence);
    case "Tick":
      return encodeNumbers(KIND_TICK, [command.slot], evidence);
    case "UpdateIndex":
      return encodeNumbers(
        KIND_INDEX,
        [command.stampMs, command.market, command.indexTicks, command.slot],
        evidence,
      );
    default:
      return encodeJson(command, evidence);
  }
}

/** Whether the command has only what its binary form has. */
function isPlain(command: PlaceOrder | CancelOrder): boolean {
  if (command.batch !== undefined) return false;
  if (command.kind === "PlaceOrder") {
    return command.extras === undefined && command.exits === undefined;
  }
  if (isExitId(command.orderId)) return false;
  return command.clientOrderId === undefined && command.validUntilMs === undefined;
}

function encodeJson(command: Command, evidence: Evidence): Uint8Array {
  if (!hasCommandShape(command)) {
    throw new CommandUnwritable(`a ${command.kind} does not have the shape of its kind`);
  }
  const text = Buffer.from(JSON.stringify(command), "utf8");
  const bytes = Buffer.allocUnsafe(2 + 4 + text.length + evidenceBytes(evidence));
  begin(bytes, KIND_JSON);
  bytes.writeUInt32LE(text.length, 2);
  bytes.set(text, 6);
  writeEvidence(bytes, 6 + text.length, evidence);
  return bytes;
}

/**
 * @throws UnknownToRelease for a record of another release, whose command cannot be known.
 * @throws RecordUnreadable for bytes that no release writes.
 */
export function decodeRecord(record: Uint8Array): LogRecord {
  const bytes = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
  if (bytes.length < 2) throw new RecordUnreadable(`${bytes.length} bytes are no record`);
  if (bytes[0] !== VERSION) throw unknownRecord(`format ${bytes[0]}`);
  switch (bytes[1]) {
    case KIND_PLACE:
      return decodePlace(bytes);
    case KIND_CANCEL:
      return { command: decodeCancel(bytes), evidence: readEvidence(bytes, CANCEL_BYTES) };
    case KIND_CANCEL_ONCE:
      return decodeCancelOnce(bytes);
    case KIND_TICK:
      return { command: decodeTick(bytes), evidence: readEvidence(bytes, 2 + 8) };
    case KIND_INDEX:
      return { command: decodeIndex(bytes), evidence: readEvidence(bytes, 2 + 32) };
    case KIND_JSON:
      return decodeJson(bytes);
    default:
      throw unknownRecord(`kind ${bytes[1]}`);
  }
}

function decodeJson(bytes: Buffer): LogRecord {
  const end = 6 + wholeAt(bytes, 2, 4);
  const command: Command = parsed(bytes.toString("utf8", 6, end));
  if (!hasCommandShape(command)) throw new RecordUnreadable("it has not the shape of a command");
  return { command, evidence: readEvidence(bytes, end) };
}

function parsed(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    throw new RecordUnreadable("its command is no JSON");
  }
}

/** An unsigned integer of `length` bytes, or 0 past the end, so that the lengths do not add up. */
function wholeAt(bytes: Buffer, at: number, length: number): number {
  return at + length <= bytes.length ? bytes.readUIntLE(at, length) : 0;
}

/** A double that holds a whole number. */
function integerAt(bytes: Buffer, at: number): number {
  const value = at + 8 <= bytes.length ? bytes.readDoubleLE(at) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new RecordUnreadable("one of its numbers is not whole");
  return value;
}

function writeInteger(bytes: Buffer, value: number, at: number): void {
  if (!Number.isSafeInteger(value)) throw new CommandUnwritable(`${value} is no whole number`);
  bytes.writeDoubleLE(value, at);
}

function unknownRecord(what: string): UnknownToRelease {
  return new UnknownToRelease(
    `the log has a record of ${what}, and this release, engine version ${ENGINE_VERSION}, ` +
      "does not know it; run a release that does",
  );
}

function encodeNumbers(kind: number, numbers: readonly number[], evidence: Evidence): Uint8Array {
  const bytes = Buffer.allocUnsafe(2 + numbers.length * 8 + evidenceBytes(evidence));
  begin(bytes, kind);
  numbers.forEach((value, i) => {
    writeInteger(bytes, value, 2 + i * 8);
  });
  writeEvidence(bytes, 2 + numbers.length * 8, evidence);
  return bytes;
}

const PLACE_BYTES = 2 + 6 * 8 + 4 + 1 + FINGERPRINT_BYTES;

function encodePlace(order: PlaceOrder, evidence: Evidence): Uint8Array {
  const bytes = Buffer.allocUnsafe(PLACE_BYTES + evidenceBytes(evidence));
  begin(bytes, KIND_PLACE);
  writeInteger(bytes, order.stampMs, 2);
  writeInteger(bytes, order.session, 10);
  writeInteger(bytes, order.nonce, 18);
  writeInteger(bytes, order.marginMicros, 26);
  writeInteger(bytes, order.priceTicks, 34);
  writeInteger(bytes, order.leverage, 42);
  bytes.writeUInt32LE(order.market, 50);
  bytes[54] =
    (order.side > 0 ? 1 : 0) |
    (order.type << 1) |
    (order.reduceOnly ? 8 : 0) |
    (order.postOnly ? 16 : 0);
  if (bytes.write(order.key, 55, FINGERPRINT_BYTES, "hex") !== FINGERPRINT_BYTES) {
    throw new RangeError("a key's fingerprint is 64 hex digits");
  }
  writeEvidence(bytes, PLACE_BYTES, evidence);
  return bytes;
}

function decodePlace(bytes: Buffer): LogRecord {
  if (bytes.length < PLACE_BYTES) throw new RecordUnreadable("it is cut short");
  const flags = bytes[54]!;
  const type = ORDER_TYPES[(flags >> 1) & 3];
  if (type === undefined) throw new RecordUnreadable("order type 3 is not known");
  const command: PlaceOrder = {
    kind: "PlaceOrder",
    stampMs: integerAt(bytes, 2),
    session: integerAt(bytes, 10),
    key: bytes.toString("hex", 55, 55 + FINGERPRINT_BYTES),
    nonce: integerAt(bytes, 18),
    market: bytes.readUInt32LE(50),
    side: (flags & 1) === 1 ? 1 : -1,
    type,
    marginMicros: integerAt(bytes, 26),
    leverage: integerAt(bytes, 42),
    priceTicks: integerAt(bytes, 34),
    reduceOnly: (flags & 8) !== 0,
    postOnly: (flags & 16) !== 0,
  };
  return { command, evidence: readEvidence(bytes, PLACE_BYTES) };
}

function decodeCancel(bytes: Buffer): CancelOrder {
  return {
    kind: "CancelOrder",
    stampMs: integerAt(bytes, 2),
    session: integerAt(bytes, 10),
    orderId: integerAt(bytes, 18),
  };
}

function encodeCancel(
  { stampMs, session, orderId, request }: CancelOrder,
  evidence: Evidence,
): Uint8Array {
  const numbers = [stampMs, session, orderId];
  if (request === undefined) return encodeNumbers(KIND_CANCEL, numbers, evidence);
  const id = Buffer.from(request.id, "hex");
  if (id.length !== REQUEST_ID_BYTES)
    throw new CommandUnwritable("a request's id is 32 hex digits");
  const bytes = Buffer.allocUnsafe(CANCEL_BYTES + 8 + REQUEST_ID_BYTES + evidenceBytes(evidence));
  begin(bytes, KIND_CANCEL_ONCE);
  [...numbers, request.notAfterMs].forEach((value, i) => {
    writeInteger(bytes, value, 2 + i * 8);
  });
  bytes.set(id, CANCEL_BYTES + 8);
  writeEvidence(bytes, CANCEL_BYTES + 8 + REQUEST_ID_BYTES, evidence);
  return bytes;
}

function decodeCancelOnce(bytes: Buffer): LogRecord {
  const idAt = CANCEL_BYTES + 8;
  const end = idAt + REQUEST_ID_BYTES;
  const request = {
    id: bytes.toString("hex", idAt, end),
    notAfterMs: integerAt(bytes, CANCEL_BYTES),
  };
  const command = { ...decodeCancel(bytes), request };
  if (end > bytes.length) throw new RecordUnreadable("it is cut short");
  return { command, evidence: readEvidence(bytes, end) };
}

function decodeTick(bytes: Buffer): Tick {
  return { kind: "Tick", slot: integerAt(bytes, 2) };
}

function decodeIndex(bytes: Buffer): UpdateIndex {
  return {
    kind: "UpdateIndex",
    stampMs: integerAt(bytes, 2),
    market: integerAt(bytes, 10),
    indexTicks: integerAt(bytes, 18),
    slot: integerAt(bytes, 26),
  };
}

function begin(bytes: Buffer, kind: number): void {
  bytes[0] = VERSION;
  bytes[1] = kind;
}

function evidenceBytes(evidence: Evidence): number {
  if (evidence === NO_EVIDENCE) return 0;
  return 8 + evidence.signed.length + evidence.signature.length + evidence.publicKey.length;
}

/** Lengths (4, 2 and 2 bytes), then the bytes; no bytes for NO_EVIDENCE. */
function writeEvidence(bytes: Buffer, at: number, evidence: Evidence): void {
  if (evidence === NO_EVIDENCE) return;
  const { signed, signature, publicKey } = evidence;
  bytes.writeUInt32LE(signed.length, at);
  bytes.writeUInt16LE(signature.length, at + 4);
  bytes.writeUInt16LE(publicKey.length, at + 6);
  bytes.set(signed, at + 8);
  bytes.set(signature, at + 8 + signed.length);
  bytes.set(publicKey, at + 8 + signed.length + signature.length);
}

function readEvidence(bytes: Buffer, at: number): Evidence {
  if (at === bytes.length) return NO_EVIDENCE;
  if (at + 8 > bytes.length) throw new RecordUnreadable("its lengths do not add up");
  const signedEnd = at + 8 + bytes.readUInt32LE(at);
  const signatureEnd = signedEnd + bytes.readUInt16LE(at + 4);
  const keyEnd = signatureEnd + bytes.readUInt16LE(at + 6);
  if (keyEnd !== bytes.length) throw new RecordUnreadable("its lengths do not add up");
  return {
    signed: bytes.subarray(at + 8, signedEnd),
    signature: bytes.subarray(signedEnd, signatureEnd),
    publicKey: bytes.subarray(signatureEnd, keyEnd),
  };
}
