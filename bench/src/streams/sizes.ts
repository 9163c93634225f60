/** The size of the book stream, and what packing costs, compared with the same book as JSON. */

import type { Level } from "@perpgate/protocol";
import { BookChecksum, decodeSide, encodeSide, fromSteps, stepOf } from "@perpgate/protocol/core";
import { encodeFrame } from "@perpgate/protocol/stream-frame";
import { type SampleBook, sampleBooks } from "@perpgate/protocol/testing";
import type { Report } from "../harness/report.js";

const SEED = 20_261_115;
/** A KB of 1,000 bytes; the whole frame counts, not the levels alone. */
const BAR_BYTES = 8_000;
const LEVELS = 3_000;
/** All books are shown in BTCUSD's units. */
const TICK = 0.1;
const LOT = 0.00001;
/** As large as after years of trading, so that no number is short for being new. */
const SEQ = 5_000_000_000;
const TIME_MS = 1_794_716_404_074;

export const SIZES_LEAVE_OUT = ["WebSocket and TCP headers (8 and 40 bytes a frame)"];

function plainSide(levels: readonly Level[]): number[][] {
  const [tick, lot] = [stepOf(TICK), stepOf(LOT)];
  return levels.map(([ticks, lots]) => [fromSteps(ticks, tick), fromSteps(lots, lot)]);
}

function frameOf(d: unknown): Uint8Array {
  return encodeFrame({ t: "book", s: "BTCUSD", d });
}

function jsonOf(d: unknown): string {
  return JSON.stringify({ t: "book", s: "BTCUSD", d });
}

/** The payload of a snapshot, with packed sides or plain arrays. */
function snapshotOf({ bids, asks }: SampleBook, isPacked: boolean): object {
  const checksum = new BookChecksum();
  for (const [tick, lots] of bids) checksum.set("bid", tick, 0, lots);
  for (const [tick, lots] of asks) checksum.set("ask", tick, 0, lots);
  return {
    ...{ type: "snapshot", seq: SEQ, block: 40_000_000, time: TIME_MS, tick: TICK, lot: LOT },
    bids: isPacked ? encodeSide(bids, "bid") : plainSide(bids),
    asks: isPacked ? encodeSide(asks, "ask") : plainSide(asks),
    sum: checksum.value,
  };
}

function snapshots(report: Report, books: readonly SampleBook[]): void {
  const largest = Math.max(...books.map((book) => frameOf(snapshotOf(book, true)).length));
  const json = Math.max(...books.map((book) => jsonOf(snapshotOf(book, false)).length));
  const metric = `snapshot of ${LEVELS} levels, largest of the generated books`;
  report.add(metric, largest, "bytes", "bar 8,000", largest / BAR_BYTES);
  report.add("  as JSON", json, "bytes", "packed is", largest / json);
}

/** The fastest of 300 runs. */
function fastestMs(work: () => unknown): number {
  const times = Array.from({ length: 300 }, () => {
    const started = performance.now();
    work();
    return performance.now() - started;
  });
  return Math.min(...times);
}

function times(report: Report, { bids, asks, name }: SampleBook): void {
  const plain = snapshotOf({ name, bids, asks }, false);
  const [packedBids, packedAsks] = [encodeSide(bids, "bid"), encodeSide(asks, "ask")];
  const json = jsonOf(plain);
  const both = <T>(a: T, b: T): readonly T[] => [a, b];
  const encode = fastestMs(() => both(encodeSide(bids, "bid"), encodeSide(asks, "ask")));
  const decode = fastestMs(() =>
    both(decodeSide(packedBids, "bid"), decodeSide(packedAsks, "ask")),
  );
  const toJson = fastestMs(() => jsonOf(plain));
  const fromJson = fastestMs(() => JSON.parse(json));
  report.add(`encode ${LEVELS} levels`, encode, "ms", "JSON", encode / toJson);
  report.add(`decode ${LEVELS} levels`, decode, "ms", "JSON", decode / fromJson);
}

export function measureSizes(report: Report): void {
  const samples = sampleBooks(SEED);
  snapshots(report, samples);
  times(report, samples[0]!);
}
