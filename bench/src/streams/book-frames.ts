/** The payloads of the book's stream, packed and plain, for a book or a delta of it. */
import { BookChecksum, type BookSideData, encodeSide, type Level } from "@perpgate/protocol";
import type { SampleBook } from "@perpgate/protocol/testing/sample-books";
import { LOT, plainSide, TICK } from "./other-packings.js";

/** Positions and times as large as a venue has after years, so that no number is shorter for being new. */
const SEQ = 5_000_000_000;
const TIME_MS = 1_794_716_404_074;

export function packedSnapshot({ bids, asks }: SampleBook): object {
  return snapshot(encodeSide(bids, "bid"), encodeSide(asks, "ask"), sumOf(bids, asks));
}

export function plainSnapshot({ bids, asks }: SampleBook): object {
  return snapshot(plainSide(bids), plainSide(asks), sumOf(bids, asks));
}

export function emptyDelta(): object {
  const none = new Uint8Array(0);
  return {
    type: "delta",
    seq: SEQ,
    prev: SEQ,
    time: TIME_MS,
    bids: none,
    asks: none,
    sum: 2 ** 31,
  };
}

function snapshot(bids: BookSideData | number[][], asks: BookSideData | number[][], sum: number) {
  return {
    type: "snapshot",
    seq: SEQ,
    block: 40_000_000,
    time: TIME_MS,
    tick: TICK,
    lot: LOT,
    bids,
    asks,
    sum,
  };
}

function sumOf(bids: readonly Level[], asks: readonly Level[]): number {
  const checksum = new BookChecksum();
  for (const [tick, lots] of bids) checksum.set("bid", tick, 0, lots);
  for (const [tick, lots] of asks) checksum.set("ask", tick, 0, lots);
  return checksum.value;
}
