/**
 * Gives `ws` the bytes of a read in pieces.
 *
 * `ws` parses everything that it is given, also after the socket was closed for it. A read of 64 KiB may
 * hold 9,000 messages, which take 30 ms. Between two pieces the rest is dropped if nothing more of the
 * socket is read, or waits for the next turn of the event loop if the client's address has used its part
 * of this one. The first piece of a read does not wait: a client that shares its address with others may
 * want to cancel.
 */

import type { Duplex } from "node:stream";

const PIECE_BYTES = 4_096;
const NOTHING = Buffer.alloc(0);

export interface PieceReader {
  /** Whether the client's address has used its part of this turn of the event loop. */
  readonly isTurnUsed: boolean;
  /** Whether what the client has sent is not wanted any more. */
  readonly isUnread: boolean;
  /** `ws` has parsed these bytes, or they were dropped. */
  onBytes(bytes: number): void;
  /** No more is read until `onRestRead`. */
  onRestWaits(): void;
  onRestRead(): void;
}

/** Replaces the listener that `ws` has added to the transport of an open socket. */
export function readInPieces(transport: Duplex, reader: PieceReader): void {
  const [parse] = transport.listeners("data");
  if (parse === undefined) throw new Error("ws does not read its transport");
  transport.removeAllListeners("data");
  let rest: Buffer = NOTHING;
  let isWaiting = false;
  const parsePiece = (): void => {
    const piece = rest.subarray(0, PIECE_BYTES);
    rest = rest.subarray(PIECE_BYTES);
    Reflect.apply(parse, transport, [piece]);
    reader.onBytes(piece.length);
    // After the peer's FIN, `ws` takes no more bytes.
    if (reader.isUnread || !transport.readable) rest = NOTHING;
  };
  const goOn = (): void => {
    if (!transport.readable) rest = NOTHING;
    while (rest.length > 0 && !reader.isTurnUsed) parsePiece();
    isWaiting = rest.length > 0;
    if (isWaiting) setImmediate(goOn);
    else reader.onRestRead();
  };
  transport.on("data", (bytes: Buffer) => {
    if (reader.isUnread) {
      reader.onBytes(bytes.length);
      return;
    }
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    if (isWaiting) return;
    do parsePiece();
    while (rest.length > 0 && !reader.isTurnUsed);
    if (rest.length === 0) return;
    isWaiting = true;
    reader.onRestWaits();
    setImmediate(goOn);
  });
}
