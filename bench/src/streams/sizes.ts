/**
 * The size of the book's stream, beside the same book in other forms, and what packing it costs.
 *
 * The books are those of packages/protocol/src/testing/sample-books.ts; where PERPGATE_VECTORS names
 * the folder with Bitstamp's order flow, two real ones beside them.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { decodeSide, encodeSide, type Level } from "@perpgate/protocol";
import { Random } from "@perpgate/protocol/random";
import { decodeFrame, encodeFrame } from "@perpgate/protocol/stream-frame";
import { bitstampBooks } from "@perpgate/protocol/testing/bitstamp-book";
import { type SampleBook, sampleBooks, sampleDelta } from "@perpgate/protocol/testing/sample-books";
import { progress, type Report } from "../report.js";
import { emptyDelta, packedSnapshot, plainSnapshot } from "./book-frames.js";
import {
  deflated,
  expGolombBytes,
  jsonOf,
  leb128Bytes,
  messagePackBytes,
  plainSide,
} from "./other-packings.js";

const SEED = 20_261_115;
/** A KB of 1,000 bytes, the stricter one; the whole frame counts, not the levels alone. */
const BAR_BYTES = 8_000;
const LEVELS = 3_000;
const DELTAS = 200;

export const SIZES_LEAVE_OUT = [
  "WebSocket and TCP headers (8 and 40 bytes a frame)",
  "a deflate window kept between frames, which costs a server 100 KB or more a socket",
];

function realBooks(): SampleBook[] {
  const vectors = process.env.PERPGATE_VECTORS;
  if (vectors === undefined) {
    progress("Bitstamp's books left out: PERPGATE_VECTORS names no folder.");
    return [];
  }
  const csv = join(vectors, "orderflow-bitstamp-2015-05-01/orders.csv");
  return bitstampBooks(readFileSync(csv, "utf8"));
}

function snapshots(report: Report, books: readonly SampleBook[]): void {
  let largest = 0;
  let largestJson = 0;
  const envelope = messagePackBytes(packedSnapshot({ name: "", bids: [], asks: [] }));
  for (const book of books) {
    const { bids, asks } = book;
    const levels = bids.length + asks.length;
    // A book of another depth is scaled to 3,000 levels, to stand beside the others.
    const scaled = (frame: number): number => ((frame - envelope) * LEVELS) / levels + envelope;
    const packed = scaled(messagePackBytes(packedSnapshot(book)));
    if (levels === LEVELS) {
      report.detail(book.name, packed, "bytes", "bar 8,000", packed / BAR_BYTES);
      largest = Math.max(largest, packed);
      largestJson = Math.max(largestJson, jsonOf(plainSnapshot(book)).length);
    } else report.detail(`${book.name}, from ${levels} levels`, packed, "bytes", "no bar: thin");
    const plain = plainSnapshot(book);
    const others: [string, number][] = [
      ["LEB128 pairs", envelope + leb128Bytes(bids) + leb128Bytes(asks)],
      ["Exp-Golomb, fitted", envelope + expGolombBytes(bids) + expGolombBytes(asks)],
      ["plain MessagePack", messagePackBytes(plain)],
      ["JSON", jsonOf(plain).length],
      ["JSON + deflate", deflated(jsonOf(plain)).length],
    ];
    for (const [name, bytes] of others) {
      report.detail(`  ${name}`, scaled(bytes), "bytes", "packed is", packed / scaled(bytes));
    }
  }
  const name = `snapshot of ${LEVELS} levels, largest of the generated books`;
  report.add(name, largest, "bytes", "bar 8,000", largest / BAR_BYTES);
  report.add("  as JSON", largestJson, "bytes", "packed is", largest / largestJson);
}

function deltas(report: Report, books: readonly SampleBook[]): void {
  report.detail("a delta frame without its levels", messagePackBytes(emptyDelta()), "bytes");
  for (const count of [1, 3, 10, 50]) {
    const random = new Random(SEED);
    const sides = books.flatMap(({ bids }) =>
      Array.from({ length: DELTAS }, () => sampleDelta(bids, count, random)),
    );
    const levels = sides.reduce((sum, side) => sum + side.length, 0);
    const perLevel = (bytesOf: (side: readonly Level[]) => number): number =>
      sides.reduce((sum, side) => sum + bytesOf(side), 0) / levels;
    const packed = perLevel((side) => encodeSide(side, "bid").length);
    report.detail(`delta of ${count} a side`, packed, "bytes/level");
    const frameless = encodeFrame({ t: "x", d: null }).length - 1;
    const others: [string, number][] = [
      ["LEB128 pairs and a count", perLevel((side) => leb128Bytes(side) + 1)],
      [
        "plain MessagePack",
        perLevel((side) => encodeFrame({ t: "x", d: plainSide(side) }).length - frameless),
      ],
      ["JSON", perLevel((side) => JSON.stringify(plainSide(side)).length)],
      ["JSON + deflate", perLevel((side) => deflated(JSON.stringify(plainSide(side))).length)],
    ];
    for (const [name, bytes] of others) {
      report.detail(`  ${name}`, bytes, "bytes/level", "packed is", packed / bytes);
    }
  }
}

function fastestMs(work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 300; run++) {
    const started = performance.now();
    work();
    best = Math.min(best, performance.now() - started);
  }
  return best;
}

function times(report: Report, book: SampleBook): void {
  const bids = encodeSide(book.bids, "bid");
  const asks = encodeSide(book.asks, "ask");
  const plain = plainSnapshot(book);
  const plainFrame = encodeFrame({ t: "book", d: plain });
  const json = jsonOf(plain);
  const squeezed = deflated(json);
  const encode = fastestMs(() => {
    encodeSide(book.bids, "bid");
    encodeSide(book.asks, "ask");
  });
  const asJson = fastestMs(() => jsonOf(plain));
  report.add(`encode ${LEVELS} levels`, encode, "ms", "JSON", encode / asJson);
  report.detail("  100 a second take, of a core", encode * 10, "%");
  report.detail(
    "  plain MessagePack",
    fastestMs(() => encodeFrame({ t: "book", d: plain })),
    "ms",
  );
  report.detail("  JSON", asJson, "ms");
  report.detail(
    "  JSON + deflate",
    fastestMs(() => deflated(jsonOf(plain))),
    "ms",
  );
  const decode = fastestMs(() => {
    decodeSide(bids, "bid");
    decodeSide(asks, "ask");
  });
  const fromJson = fastestMs(() => JSON.parse(json));
  report.add(`decode ${LEVELS} levels`, decode, "ms", "JSON", decode / fromJson);
  report.detail(
    "  plain MessagePack",
    fastestMs(() => decodeFrame(plainFrame)),
    "ms",
  );
  report.detail("  JSON", fromJson, "ms");
  const inflate = fastestMs(() => JSON.parse(inflateRawSync(squeezed).toString()));
  report.detail("  JSON + deflate", inflate, "ms");
  const few = sampleDelta(book.bids, 10, new Random(SEED));
  report.detail("encode a delta of 10 levels", fastestMs(() => encodeSide(few, "bid")) * 1e3, "µs");
}

export function measureSizes(report: Report): void {
  const samples = sampleBooks(SEED);
  snapshots(report, [...samples, ...realBooks()]);
  deltas(report, samples);
  times(report, samples[0]!);
}
