/**
 * The size of the book stream, compared with the same book in other forms, and what packing costs.
 *
 * The books are generated; where PERPGATE_VECTORS names the folder with Bitstamp's order flow, two
 * real ones are added.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Level } from "@perpgate/protocol";
import { BookChecksum, decodeSide, encodeSide, fromSteps, stepOf } from "@perpgate/protocol/core";
import { Random } from "@perpgate/protocol/random";
import { decodeFrame, encodeFrame } from "@perpgate/protocol/stream-frame";
import {
  bitstampBooks,
  type SampleBook,
  sampleBooks,
  sampleDelta,
} from "@perpgate/protocol/testing";
import { progress, type Report } from "../harness/report.js";

const SEED = 20_261_115;
/** A KB of 1,000 bytes; the whole frame counts, not the levels alone. */
const BAR_BYTES = 8_000;
const LEVELS = 3_000;
const DELTAS = 200;
/** All books are shown in BTCUSD's units. */
const TICK = 0.1;
const LOT = 0.00001;
/** As large as after years of trading, so that no number is short for being new. */
const SEQ = 5_000_000_000;
const TIME_MS = 1_794_716_404_074;

export const SIZES_LEAVE_OUT = [
  "WebSocket and TCP headers (8 and 40 bytes a frame)",
  "a deflate window kept between frames, which costs a server 100 KB or more a socket",
];

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

function realBooks(): SampleBook[] {
  const vectors = process.env.PERPGATE_VECTORS;
  if (vectors === undefined) {
    progress("streams: Bitstamp's books left out: PERPGATE_VECTORS names no folder");
    return [];
  }
  return bitstampBooks(
    readFileSync(join(vectors, "orderflow-bitstamp-2015-05-01/orders.csv"), "utf8"),
  );
}

function snapshots(report: Report, books: readonly SampleBook[]): void {
  let [largest, largestJson] = [0, 0];
  const envelope = frameOf(snapshotOf({ name: "", bids: [], asks: [] }, true)).length;
  for (const book of books) {
    const { bids, asks, name } = book;
    const levels = bids.length + asks.length;
    // A book of another depth is scaled to 3,000 levels.
    const scaled = (bytes: number): number => ((bytes - envelope) * LEVELS) / levels + envelope;
    const packed = scaled(frameOf(snapshotOf(book, true)).length);
    const plain = snapshotOf(book, false);
    const json = jsonOf(plain);
    if (levels === LEVELS) {
      report.detail(name, packed, "bytes", "bar 8,000", packed / BAR_BYTES);
      largest = Math.max(largest, packed);
      largestJson = Math.max(largestJson, json.length);
    } else report.detail(`${name}, from ${levels} levels`, packed, "bytes", "no bar: thin");
    for (const [form, bytes] of [
      ["plain MessagePack", frameOf(plain).length],
      ["JSON", json.length],
      ["JSON + deflate", deflateRawSync(json).length],
    ] as const) {
      report.detail(`  ${form}`, scaled(bytes), "bytes", "packed is", packed / scaled(bytes));
    }
  }
  const metric = `snapshot of ${LEVELS} levels, largest of the generated books`;
  report.add(metric, largest, "bytes", "bar 8,000", largest / BAR_BYTES);
  report.add("  as JSON", largestJson, "bytes", "packed is", largest / largestJson);
}

function deltas(report: Report, books: readonly SampleBook[]): void {
  const none = new Uint8Array(0);
  const empty = { type: "delta", seq: SEQ, prev: SEQ, time: TIME_MS, bids: none, asks: none };
  report.detail("a delta without levels", frameOf({ ...empty, sum: 2 ** 31 }).length, "bytes");
  const frameless = encodeFrame({ t: "x", d: null }).length - 1;
  for (const count of [1, 3, 10, 50]) {
    const random = new Random(SEED);
    const sides = books.flatMap(({ bids }) =>
      Array.from({ length: DELTAS }, () => sampleDelta(bids, count, random)),
    );
    const levels = sides.reduce((sum, side) => sum + side.length, 0);
    const perLevel = (bytesOf: (side: readonly Level[]) => number): number =>
      sides.reduce((sum, side) => sum + bytesOf(side), 0) / levels;
    const json = (side: readonly Level[]): string => JSON.stringify(plainSide(side));
    const packed = perLevel((side) => encodeSide(side, "bid").length);
    report.detail(`delta of ${count} a side`, packed, "bytes/level");
    for (const [form, bytesOf] of [
      [
        "plain MessagePack",
        (side) => encodeFrame({ t: "x", d: plainSide(side) }).length - frameless,
      ],
      ["JSON", (side) => json(side).length],
      ["JSON + deflate", (side) => deflateRawSync(json(side)).length],
    ] satisfies [string, (side: readonly Level[]) => number][]) {
      const bytes = perLevel(bytesOf);
      report.detail(`  ${form}`, bytes, "bytes/level", "packed is", packed / bytes);
    }
  }
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
  const [plainFrame, json] = [frameOf(plain), jsonOf(plain)];
  const squeezed = deflateRawSync(json);
  const both = <T>(a: T, b: T): readonly T[] => [a, b];
  const encode = fastestMs(() => both(encodeSide(bids, "bid"), encodeSide(asks, "ask")));
  const decode = fastestMs(() =>
    both(decodeSide(packedBids, "bid"), decodeSide(packedAsks, "ask")),
  );
  const toJson = fastestMs(() => jsonOf(plain));
  const fromJson = fastestMs(() => JSON.parse(json));
  const detail = (form: string, work: () => unknown): void =>
    report.detail(`  ${form}`, fastestMs(work), "ms");
  report.add(`encode ${LEVELS} levels`, encode, "ms", "JSON", encode / toJson);
  report.detail("  100 a second, share of a core", encode * 10, "%");
  detail("plain MessagePack", () => frameOf(plain));
  detail("JSON + deflate", () => deflateRawSync(jsonOf(plain)));
  report.add(`decode ${LEVELS} levels`, decode, "ms", "JSON", decode / fromJson);
  detail("plain MessagePack", () => decodeFrame(plainFrame));
  detail("JSON + deflate", () => JSON.parse(inflateRawSync(squeezed).toString()));
  const few = sampleDelta(bids, 10, new Random(SEED));
  report.detail("encode a delta of 10 levels", fastestMs(() => encodeSide(few, "bid")) * 1e3, "µs");
}

export function measureSizes(report: Report): void {
  const samples = sampleBooks(SEED);
  snapshots(report, [...samples, ...realBooks()]);
  deltas(report, samples);
  times(report, samples[0]!);
}
