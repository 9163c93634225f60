/**
 * The cost of serving a client, in microseconds of processor time.
 *
 * The figures are measured (`npm run bench -- costs` prints measured and charged cost) and rounded up. They
 * are constants: a charge must not depend on how busy the machine is. They include the work of other
 * threads, such as the signature check of an order.
 *
 * The cost of an operation in addition to its request is its field `costMicros`.
 */

import type { KeyKind } from "@perpgate/protocol/core";

export const COST = {
  /** Accepting a connection and closing it. */
  connection: 100,
  /**
   * The possible cost of a connection's first read, charged in advance to an address that has many
   * connections or had to wait, so that not all of them are read in one turn of the event loop; given back
   * when its first request is parsed. A read of 64 KiB may hold 430 requests.
   */
  firstRead: 12_000,
  /** Parsing a request, routing it and writing its response. */
  request: 90,
  /** What a cancel or a reduction costs in addition to its request or message, paid by the reserve. */
  exit: 170,
  /** Checking a signature of secp256k1, beyond what one of Ed25519 costs. */
  secp256k1: 900,
  /** The error for a path that does not exist, in addition to its request. */
  unknownPath: 40,
  /** A request that is parsed and dropped, because its connection is closing. */
  droppedRequest: 15,
  /** The handshake of a WebSocket, its objects and its close. */
  upgrade: 1_000,
  /** A message of a WebSocket: unmasking, parsing, the answer. */
  message: 15,
  errorFrame: 30,
  /** Finding the session of a token in a message. */
  token: 30,
  /** A command of the log about a session, its options or its presence: as much as a cancel's. */
  sessionCommand: 150,
  /** A ping, a pong, or a close frame. */
  controlFrame: 4,
  /** Opening one stream, without its first frame. */
  subscription: 25,
  /** Writing one frame, without its bytes. */
  frame: 3,
  /**
   * Finding one row of the history and decoding it: 7 µs in a quiet venue, 12 while orders arrive, whose
   * rows are in memory and searched first. Its bytes in the response are charged by `answerCost`.
   */
  historyRow: 12,
  /**
   * A work unit of the engine (docs/engine.md, "Work"), of a command that took more than an ordinary one.
   * `npm run bench -- work` measures it.
   */
  workUnit: 1,
  /** Reading a book for its first reader, without the encoding of its levels. */
  snapshot: 250,
  /** Reading the state of an account for a private stream. */
  privateSnapshot: 200,
} as const;

/** White space costs the most: three passes look at each character. */
const MICROS_PER_KIB_READ = 18;
/** A signed body is hashed, logged and kept. */
const MICROS_PER_KIB_SIGNED = 45;
/** A body may arrive in chunks of one byte, with an event each. */
const MICROS_PER_KIB_CHUNKED = 340;
/** Responses are built row by row and serialised, which costs far more than copying. */
const MICROS_PER_KIB_COMPUTED = 56;
/** Most of it is the system call that copies them to the socket. */
const MICROS_PER_KIB_STORED = 7;
/** Frames are encoded once and copied to each reader. */
const MICROS_PER_KIB_FRAMED = 1;
/** The packed form is dense: one KiB of it is some 450 levels. */
const MICROS_PER_KIB_PACKED = 280;
const MICROS_PER_KIB_PLAIN = 14;
const KIB = 1_024;

export function readCost(bytes: number, isChunked = false): number {
  return (bytes / KIB) * (isChunked ? MICROS_PER_KIB_CHUNKED : MICROS_PER_KIB_READ);
}

/** Of a signed body, in addition to its operation's cost, which includes a check of Ed25519. */
export function signedCost(kind: KeyKind, bytes: number): number {
  return (kind === "secp256k1" ? COST.secp256k1 : 0) + (bytes / KIB) * MICROS_PER_KIB_SIGNED;
}

export function answerCost(bytes: number, isComputed: boolean): number {
  return (bytes / KIB) * (isComputed ? MICROS_PER_KIB_COMPUTED : MICROS_PER_KIB_STORED);
}

export function frameCost(bytes: number): number {
  return COST.frame + (bytes / KIB) * MICROS_PER_KIB_FRAMED;
}

/** Of a book's snapshot, in addition to `frameCost`; charged to every reader as if encoded for it. */
export function snapshotCost(bytes: number, isPlain: boolean): number {
  return COST.snapshot + (bytes / KIB) * (isPlain ? MICROS_PER_KIB_PLAIN : MICROS_PER_KIB_PACKED);
}
