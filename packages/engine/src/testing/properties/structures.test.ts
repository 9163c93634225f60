/** The engine's small data structures against the obvious ones. fast-check prints seed and path. */
import { Random } from "@perpgate/protocol/random";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NONCE_WINDOW } from "../../config.js";
import { Engine } from "../../engine.js";
import { IdIndex, spread } from "../../state/id-index.js";
import { NonceBlocks, NonceWindow, WINDOW_WORDS } from "../../state/nonce-window.js";
import type { HashSeed } from "../../state/seeded-hash.js";
import { TextCells } from "../../state/text-cells.js";
import { TextIndex } from "../../state/text-index.js";
import { Timers } from "../../state/timers.js";

/** Ids as they come (nearly consecutive), far apart, and such that share their low bits. */
const ids = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  fc.integer({ min: 1, max: 60 }).map((n) => n * 2 ** 32 + 5),
  fc.maxSafeNat().map((n) => Math.max(1, n)),
);

describe("IdIndex: like a Map", () => {
  const step = fc.record({
    what: fc.constantFrom("set", "set", "delete", "get"),
    id: ids,
    row: fc.nat(2 ** 30),
  });

  test("after any sequence of set, get, delete and clear", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), fc.boolean(), (steps, clears) => {
        const index = new IdIndex(8);
        const map = new Map<number, number>();
        for (const { what, id, row } of steps) {
          if (what === "set") {
            index.set(id, row);
            map.set(id, row);
          } else if (what === "delete") {
            index.delete(id);
            map.delete(id);
          }
          expect(index.get(id)).toBe(map.get(id) ?? -1);
        }
        if (clears) {
          index.clear();
          map.clear();
        }
        for (const { id } of steps) expect(index.get(id)).toBe(map.get(id) ?? -1);
        for (const never of [0, -1, 0.5, Number.NaN]) expect(index.get(never)).toBe(-1);
      }),
      { numRuns: 300 },
    );
  });
});

test("IdIndex: ids that are neighbours under one seed are apart under another", () => {
  const slots = 1 << 16;
  const parts = 128;
  const partOf = (id: number, [first, second]: HashSeed): number =>
    Math.floor(((spread(id, first, second) & (slots - 1)) * parts) / slots);
  const random = new Random(1, "seeds");
  const seeds = Array.from({ length: 4 }, (): HashSeed => [random.uint32(), random.uint32() | 1]);
  const [known] = seeds;
  // Orders that were kept open because they are in one part of the table.
  const kept: number[] = [];
  for (let id = 1; id <= 1 << 20; id++) if (partOf(id, known!) === 5) kept.push(id);
  expect(kept.length).toBeGreaterThan(7_000);
  const [first, second] = known!;
  const others: HashSeed[] = [...seeds.slice(1), [first, 12_345], [12_345, second]];
  for (const other of others) {
    const counts = new Int32Array(parts);
    for (const id of kept) counts[partOf(id, other)]! += 1;
    expect(Math.max(...counts)).toBeLessThan((4 * kept.length) / parts);
  }
});

test("Timers: those of a seeded engine, switches and deposits too, do not use the fixed seed", () => {
  const seed: HashSeed = [12_345, 67_891];
  const seeds = new Map<string, unknown>();
  const seen = new Set<unknown>();
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return;
    if (seen.has(value)) return;
    seen.add(value);
    if (value instanceof Timers) seeds.set(path, Reflect.get(Reflect.get(value, "places"), "seed"));
    for (const [name, part] of Object.entries(value)) visit(part, `${path}.${name}`);
  };
  visit(Engine.seeded(seed).state, "state");
  expect([...seeds.keys()].sort()).toEqual([
    "state.deposits.devDue",
    "state.deposits.forgettable",
    "state.orders.extras.expiries.accounts",
    "state.sessions.expiries",
    "state.sessions.usedNonces.expiries",
    "state.switches",
  ]);
  expect([...seeds].filter(([, used]) => used !== seed)).toEqual([]);
});

describe("NonceWindow: the highest 1,024 of a set", () => {
  test("remembers, forgets and refuses as the set would", () => {
    const nonces = fc.oneof(
      fc.array(fc.nat(3_000), { minLength: 1_000, maxLength: 2_600 }),
      fc.array(fc.maxSafeNat(), { maxLength: 1_400 }),
      // Rising, as a client counts, with gaps and stragglers.
      fc
        .array(fc.integer({ min: -5, max: 9 }), { minLength: 1_000, maxLength: 4_000 })
        .map((gaps) => {
          let at = 100;
          return gaps.map((gap) => {
            at = Math.max(0, at + gap);
            return at;
          });
        }),
    );
    fc.assert(
      fc.property(nonces, (list) => {
        const window = new NonceWindow(new NonceBlocks(), new Float64Array(WINDOW_WORDS), 0);
        window.begin();
        let model: [nonce: number, order: number][] = [];
        list.forEach((nonce, i) => {
          const known = model.find(([each]) => each === nonce);
          expect(window.orderOf(nonce)).toBe(known?.[1] ?? 0);
          if (known !== undefined) return;
          const isTooOld = model.length === NONCE_WINDOW && nonce < model[0]![0];
          expect(window.isTooOld(nonce)).toBe(isTooOld);
          if (isTooOld) return;
          window.remember(nonce, i + 1);
          const after = model.findIndex(([each]) => each > nonce);
          model.splice(after < 0 ? model.length : after, 0, [nonce, i + 1]);
          if (model.length > NONCE_WINDOW) model = model.slice(1);
          expect([window.count, window.lowest()]).toEqual([model.length, model[0]![0]]);
        });
        const kept: [number, number][] = [];
        window.forEach((nonce, order) => {
          kept.push([nonce, order]);
        });
        expect(kept).toEqual(model);
      }),
      { numRuns: 12 },
    );
  });
});

describe("TextIndex over TextCells: like a Map", () => {
  // Short, too long for a cell, and beyond one byte a character.
  const texts = fc.oneof(
    fc.constantFrom("", "a", "b", "ab", "ba", "0".repeat(12), "0".repeat(13), "ä", "€"),
    fc.string({ maxLength: 14, unit: "binary" }),
  );

  test("after any sequence of adding and deleting, with rows used again", () => {
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 200 }), (steps) => {
        const cells = new TextCells(12);
        const index = new TextIndex(cells);
        const map = new Map<string, number>();
        const free: number[] = [];
        let rows = 0;
        for (const text of steps) {
          const known = map.get(text);
          expect(index.get(text)).toBe(known ?? -1);
          if (known !== undefined) {
            index.delete(text, known);
            map.delete(text);
            free.push(known);
          } else {
            const row = free.pop() ?? rows++;
            cells.set(row, text);
            index.add(text, row);
            map.set(text, row);
          }
        }
        for (const [text, row] of map) {
          expect([index.get(text), cells.get(row)]).toEqual([row, text]);
        }
      }),
      { numRuns: 300 },
    );
  });
});
