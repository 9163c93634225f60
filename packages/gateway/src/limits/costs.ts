/**
 * What serving a client costs, in microseconds of processor time.
 *
 * The figures are measured (`npm run bench:costs` prints each next to what it charges) and rounded
 * up. They are constants, not clocks: a charge must not depend on how busy the machine is. They cover
 * the event loop and the threads that work for it, such as the signature check of an order.
 *
 * The cost of one operation beyond its request is a field of that operation (`costMicros`).
 */

export const COST = {
  /** Accepting a connection and closing it. */
  connection: 100,
  /**
   * A connection of an address that has many, or that had to wait: what one read of it may cost is
   * paid in advance, so that they are not all read in the same turn of the event loop.
   */
  connectionOfMany: 5_000,
  /** Parsing a request, routing it and writing an answer, whatever the answer is. */
  request: 90,
  /** A request that is parsed and then dropped, because its connection is to be closed. */
  droppedRequest: 15,
  /** The handshake of a WebSocket, its objects and its end. */
  upgrade: 1_000,
  /** A message of a WebSocket: unmasking, parsing, an answer. */
  message: 15,
  /** An error frame: a refusal is made, encoded and written. */
  errorFrame: 30,
  /** A ping, a pong, or a close frame. */
  controlFrame: 4,
  /** Opening one stream, its first frame not counted. */
  subscription: 25,
  /** Writing one frame, whatever its length. */
  frame: 3,
  /** Reading one row of the history and making a frame of it. */
  historyRow: 8,
  /** Collecting a book for its first reader, before any level of it is encoded. */
  snapshot: 250,
  /** Collecting the state of an account for a private stream. */
  privateSnapshot: 200,
} as const;

const MICROS_PER_KIB_READ = 6;
/** A body may come in chunks of one byte, each of which is an event of its own. */
const MICROS_PER_KIB_CHUNKED = 340;
/** Answers are built row by row and serialised, which costs far more than copying them. */
const MICROS_PER_KIB_COMPUTED = 12;
const MICROS_PER_KIB_STORED = 2;
/** Frames are encoded once and copied to each reader. */
const MICROS_PER_KIB_FRAMED = 1;
/** The packed form is dense: one KiB of it is some 450 levels. */
const MICROS_PER_KIB_PACKED = 280;
const MICROS_PER_KIB_PLAIN = 14;
const KIB = 1_024;

export function readCost(bytes: number, isChunked = false): number {
  return (bytes / KIB) * (isChunked ? MICROS_PER_KIB_CHUNKED : MICROS_PER_KIB_READ);
}

export function answerCost(bytes: number, isComputed: boolean): number {
  return (bytes / KIB) * (isComputed ? MICROS_PER_KIB_COMPUTED : MICROS_PER_KIB_STORED);
}

export function frameCost(bytes: number): number {
  return COST.frame + (bytes / KIB) * MICROS_PER_KIB_FRAMED;
}

/** Of a book's snapshot, over what any frame costs; every reader pays as if it were made for it. */
export function snapshotCost(bytes: number, isPlain: boolean): number {
  return COST.snapshot + (bytes / KIB) * (isPlain ? MICROS_PER_KIB_PLAIN : MICROS_PER_KIB_PACKED);
}
