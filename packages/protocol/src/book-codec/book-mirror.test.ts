import { describe, expect, test } from "vitest";
import { Random } from "../numbers/random.js";
import { fromSteps, stepOf } from "../numbers/units.js";
import { sampleBooks } from "../testing/sample-books.js";
import type { BookSideData } from "./book-messages.js";
import { BookMirror } from "./book-mirror.js";
import { BookChecksum } from "./checksum.js";
import { encodeSide } from "./encode-side.js";
import type { BookSide, Level } from "./layout.js";

const TICK = stepOf(0.1);
const LOT = stepOf(0.00001);
type Format = "packed" | "plain";

/** The venue's end of the stream: a map per side, sorted when read. */
class Publisher {
  private readonly lots = { bid: new Map<number, number>(), ask: new Map<number, number>() };
  private readonly checksum = new BookChecksum();
  private seq = 100;

  constructor(private readonly format: Format) {}

  snapshot() {
    return { type: "snapshot", block: 7, tick: 0.1, lot: 0.00001, ...this.frame(this.all()) };
  }

  delta(changes: Readonly<Record<BookSide, readonly Level[]>>) {
    const prev = this.seq;
    this.seq += 3;
    for (const side of ["bid", "ask"] as const) {
      for (const [tick, lots] of changes[side]) {
        this.checksum.set(side, tick, this.lots[side].get(tick) ?? 0, lots);
        if (lots === 0) this.lots[side].delete(tick);
        else this.lots[side].set(tick, lots);
      }
    }
    return { type: "delta", prev, ...this.frame(changes) };
  }

  all(): Record<BookSide, Level[]> {
    return {
      bid: [...this.lots.bid].sort(([a], [b]) => b - a),
      ask: [...this.lots.ask].sort(([a], [b]) => a - b),
    };
  }

  private frame(levels: Readonly<Record<BookSide, readonly Level[]>>) {
    return {
      seq: this.seq,
      time: 1_794_716_404_074,
      bids: this.side(levels.bid, "bid"),
      asks: this.side(levels.ask, "ask"),
      sum: this.checksum.value,
    };
  }

  private side(levels: readonly Level[], side: BookSide): BookSideData {
    if (this.format === "packed") return encodeSide(levels, side);
    return levels.map(([tick, lots]) => [fromSteps(tick, TICK), fromSteps(lots, LOT)]);
  }
}

function randomChanges(random: Random): Record<BookSide, Level[]> {
  const side = (from: number, direction: number): Level[] => {
    const ticks = new Set(Array.from({ length: random.below(8) }, () => random.below(300)));
    return [...ticks]
      .sort((a, b) => a - b)
      .map((away) => [
        from + direction * away,
        random.next() < 0.4 ? 0 : 1 + random.below(10 ** 6),
      ]);
  };
  return { bid: side(650_000, -1), ask: side(650_001, 1) };
}

function openBook(format: Format): { publisher: Publisher; mirror: BookMirror } {
  const publisher = new Publisher(format);
  publisher.delta({ bid: [[650_000, 1_538]], ask: [[650_001, 2_000]] });
  const mirror = new BookMirror();
  expect(mirror.apply(publisher.snapshot())).toEqual({ kind: "applied" });
  return { publisher, mirror };
}

describe.each<Format>(["packed", "plain"])("BookMirror, %s", (format) => {
  test("a thousand random deltas: every level and checksum equal after each", () => {
    const random = new Random(20_261_115);
    const { publisher, mirror } = openBook(format);
    for (let i = 0; i < 1_000; i++) {
      expect(mirror.apply(publisher.delta(randomChanges(random)))).toEqual({ kind: "applied" });
      const { bid, ask } = publisher.all();
      expect(mirror.levels("bid")).toEqual(bid);
      expect(mirror.levels("ask")).toEqual(ask);
    }
  });

  test("a missed delta: a gap, then nothing until a snapshot", () => {
    const { publisher, mirror } = openBook(format);
    publisher.delta({ bid: [[649_999, 5]], ask: [] });
    const next = publisher.delta({ bid: [[649_998, 5]], ask: [] });
    expect(mirror.apply(next)).toEqual({ kind: "resubscribe", reason: "gap" });
    expect(mirror.live).toBe(false);
    expect(mirror.levels("bid")).toEqual([]);
    const later = publisher.delta({ bid: [[649_997, 5]], ask: [] });
    expect(mirror.apply(later)).toEqual({ kind: "awaiting_snapshot" });
    expect(mirror.apply(publisher.snapshot())).toEqual({ kind: "applied" });
    expect(mirror.levels("bid")).toEqual(publisher.all().bid);
  });

  test("a repeated delta: a gap", () => {
    const { publisher, mirror } = openBook(format);
    const delta = publisher.delta({ bid: [[649_999, 5]], ask: [] });
    mirror.apply(delta);
    expect(mirror.apply(delta)).toEqual({ kind: "resubscribe", reason: "gap" });
  });

  test("a level that differs from the venue's: detected by the sum", () => {
    const { publisher, mirror } = openBook(format);
    const delta = publisher.delta({ bid: [[649_999, 5]], ask: [] });
    const other = new Publisher(format).delta({ bid: [[649_999, 6]], ask: [] });
    const verdict = mirror.apply({ ...delta, bids: other.bids });
    expect(verdict).toEqual({ kind: "resubscribe", reason: "checksum_mismatch" });
  });

  test("a snapshot in the middle: replaces the book and continues from there", () => {
    const { publisher, mirror } = openBook(format);
    publisher.delta({ bid: [[650_000, 0]], ask: [[650_001, 1]] });
    expect(mirror.apply(publisher.snapshot())).toEqual({ kind: "applied" });
    expect(mirror.levels("bid")).toEqual([]);
    const delta = publisher.delta({ bid: [[649_000, 9]], ask: [] });
    expect(mirror.apply(delta)).toEqual({ kind: "applied" });
    expect(mirror.seq).toBe(delta.seq);
  });
});

describe("BookMirror", () => {
  test("levels and prices: best first, to the given depth", () => {
    const { mirror, publisher } = openBook("packed");
    mirror.apply(publisher.delta({ bid: [[649_990, 7]], ask: [[650_011, 100_000]] }));
    expect(mirror.prices("bid")).toEqual([
      [65_000, 0.01538],
      [64_999, 0.00007],
    ]);
    expect(mirror.prices("ask", 1)).toEqual([[65_000.1, 0.02]]);
    expect(mirror.levels("ask", 5)).toEqual([
      [650_001, 2_000],
      [650_011, 100_000],
    ]);
    expect(mirror.lotsAt("bid", 649_990)).toBe(7);
    expect(mirror.lotsAt("bid", 649_991)).toBe(0);
  });

  test("copyLevels: fills the arrays, best first, and returns the count", () => {
    const { mirror, publisher } = openBook("packed");
    expect([mirror.tick, mirror.lot]).toEqual([0.1, 0.00001]);
    mirror.apply(publisher.delta({ bid: [[649_990, 7]], ask: [] }));
    const [ticks, lots] = [new Float64Array(3), new Float64Array(3)];
    expect(mirror.depth("bid")).toBe(2);
    expect(mirror.copyLevels("bid", ticks, lots)).toBe(2);
    expect([...ticks]).toEqual([650_000, 649_990, 0]);
    expect([...lots]).toEqual([1_538, 7, 0]);
    expect(mirror.copyLevels("bid", ticks.subarray(0, 1), lots)).toBe(1);
    mirror.apply({});
    expect([mirror.tick, mirror.lot, mirror.depth("bid")]).toEqual([0, 0, 0]);
  });

  test("3,000 levels: the same book from either format", () => {
    const { bids, asks } = sampleBooks(9)[0]!;
    const mirrors = (["packed", "plain"] as const).map((format) => {
      const publisher = new Publisher(format);
      publisher.delta({ bid: bids, ask: asks });
      const mirror = new BookMirror();
      expect(mirror.apply(publisher.snapshot())).toEqual({ kind: "applied" });
      return mirror;
    });
    expect(mirrors[0]?.levels("bid")).toEqual(bids);
    expect(mirrors[1]?.levels("ask")).toEqual(asks);
    expect(mirrors[0]?.sum).toBe(mirrors[1]?.sum);
  });

  test("a delta before any snapshot: waits", () => {
    const delta = new Publisher("packed").delta({ bid: [[1, 1]], ask: [] });
    expect(new BookMirror().apply(delta)).toEqual({ kind: "awaiting_snapshot" });
  });

  test("anything but a book message: malformed", () => {
    const { publisher } = openBook("packed");
    const good = publisher.snapshot();
    const wrong: unknown[] = [
      undefined,
      null,
      7,
      "snapshot",
      [],
      {},
      { ...good, type: "update" },
      { ...good, seq: 1.5 },
      { ...good, seq: -1 },
      { ...good, sum: 2 ** 32 },
      { ...good, sum: "0" },
      { ...good, tick: 0 },
      { ...good, lot: Number.NaN },
      { ...good, bids: "bytes" },
      { ...good, bids: [[1]] },
      { ...good, bids: [[0.05, 1]] },
      { ...good, bids: [[0, 1]] },
      { ...good, asks: Uint8Array.of(255, 255, 255) },
      { ...publisher.delta({ bid: [], ask: [] }), prev: "100" },
    ];
    for (const payload of wrong) {
      expect(new BookMirror().apply(payload)).toEqual({ kind: "resubscribe", reason: "malformed" });
    }
  });
});
