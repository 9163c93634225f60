/**
 * Runs the decoder and the checksum that docs/streams.md prints, cut out of the page, and compares them
 * with the package on thousands of books.
 */

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anySide } from "../testing/any-book.js";
import { sampleBooks } from "../testing/sample-books.js";
import { mix32 } from "./checksum.js";
import { decodeSide } from "./decode-side.js";
import { encodeSide } from "./encode-side.js";
import type { BookSide, Level } from "./layout.js";

const page = readFileSync(new URL("../../../../docs/streams.md", import.meta.url), "utf8");

function block(kind: string): string {
  const text = page.match(new RegExp(`\`\`\`${kind}\n([^]*?)\n\`\`\``))?.[1];
  if (text === undefined) throw new Error(`docs/streams.md has no \`\`\`${kind} block`);
  return text;
}

const source = block("js decoder");
const unpackSide: (bytes: Uint8Array, direction: number) => Level[] = new Function(
  `${source}\nreturn unpackSide;`,
)();
const documentedMix32: (isAsk: boolean, tick: number, lots: number) => number = new Function(
  `${block("js mix32")}\nreturn mix32;`,
)();

function unpack(bytes: Uint8Array, side: BookSide): Level[] {
  return unpackSide(bytes, side === "bid" ? -1 : 1);
}

describe("the decoder in docs/streams.md", () => {
  test("its length: about twenty lines of statements", () => {
    const lines = source.split("\n");
    expect(lines.length).toBeLessThanOrEqual(27);
    expect(lines.filter((line) => /\w/.test(line)).length).toBeLessThanOrEqual(22);
  });

  test("thousands of arbitrary sides: reads what was encoded, as the package does", () => {
    fc.assert(
      fc.property(fc.constantFrom<BookSide>("bid", "ask"), fc.gen(), (side, generate) => {
        const levels = generate(anySide, side);
        const bytes = encodeSide(levels, side);
        expect(unpack(bytes, side)).toEqual(levels);
        expect(decodeSide(bytes, side)).toEqual(levels);
      }),
      { numRuns: 3_000 },
    );
  });

  test("every sample book: reads what was encoded", () => {
    for (const { name, bids, asks } of sampleBooks(11)) {
      expect(unpack(encodeSide(bids, "bid"), "bid"), name).toEqual(bids);
      expect(unpack(encodeSide(asks, "ask"), "ask"), name).toEqual(asks);
    }
  });

  test("the worked example: these levels, these bytes", () => {
    const levels: Level[] = JSON.parse(block("json levels"));
    const bytes = Uint8Array.from(block("text bytes").split(" "), (hex) =>
      Number.parseInt(hex, 16),
    );
    expect(encodeSide(levels, "bid")).toEqual(bytes);
    expect(unpack(bytes, "bid")).toEqual(levels);
  });
});

describe("mix32 in docs/streams.md", () => {
  test("any level: the package's value", () => {
    fc.assert(
      fc.property(fc.boolean(), fc.maxSafeNat(), fc.maxSafeNat(), (isAsk, tick, lots) => {
        expect(documentedMix32(isAsk, tick, lots)).toBe(mix32(isAsk ? "ask" : "bid", tick, lots));
      }),
      { numRuns: 5_000 },
    );
  });

  test("its table: right", () => {
    const rows = [...page.matchAll(/^\| (bid|ask) \| (\d+) \| (\d+) \| (\d+) \|$/gm)];
    expect(rows.length).toBeGreaterThan(3);
    for (const [, side, tick, lots, value] of rows) {
      expect(mix32(side === "ask" ? "ask" : "bid", Number(tick), Number(lots))).toBe(Number(value));
    }
  });
});
