import { afterEach, expect, test, vi } from "vitest";
import { Drawings, MOST_DRAWINGS, retracements } from "./drawings.js";

/** The browser's storage, in memory. */
function withStorage(): Map<string, string> {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
  return kept;
}

afterEach(() => vi.unstubAllGlobals());

const LEVEL = {
  symbol: "BTCUSD",
  kind: "level",
  points: [{ time: 1, price: 2 }],
  text: "",
} as const;

test("drawings: found again by the next visit, by market; removed one by one or all of a market", () => {
  withStorage();
  const drawings = new Drawings();
  drawings.add(LEVEL);
  drawings.add({ ...LEVEL, kind: "text", text: "here" });
  drawings.add({ ...LEVEL, symbol: "ETHUSD" });
  const again = new Drawings();
  expect(again.list.get()).toEqual(drawings.list.get());
  again.remove(again.list.get()[0]?.id ?? "");
  expect(again.list.get().map(({ symbol, text }) => [symbol, text])).toEqual([
    ["BTCUSD", "here"],
    ["ETHUSD", ""],
  ]);
  again.clear("BTCUSD");
  expect(new Drawings().list.get().map(({ symbol }) => symbol)).toEqual(["ETHUSD"]);
});

test("drawings: at most so many, and nothing of what another program has stored", () => {
  const kept = withStorage();
  const drawings = new Drawings();
  for (let at = 0; at < MOST_DRAWINGS; at++) expect(drawings.add(LEVEL)).toBe(true);
  expect(drawings.add(LEVEL)).toBe(false);
  const point = { time: 1, price: 2 };
  const wrong = [
    { ...LEVEL, id: "1", kind: "circle" },
    { ...LEVEL, id: "2", points: [point, point] },
    { ...LEVEL, id: "3", kind: "line" },
    { ...LEVEL, id: "4", points: [{ time: 1 }] },
    { ...LEVEL, id: "5", text: "x".repeat(1_000) },
    "text",
    null,
  ];
  kept.set("perpgate.drawings", JSON.stringify([...wrong, { ...LEVEL, id: "right" }]));
  expect(new Drawings().list.get().map(({ id }) => id)).toEqual(["right"]);
  kept.set("perpgate.drawings", "{");
  expect(new Drawings().list.get()).toEqual([]);
});

test("retracements: parts of the way back from the second price", () => {
  const levels = retracements({ time: 0, price: 100 }, { time: 1, price: 200 });
  expect(levels.map(({ price }) => Math.round(price * 10) / 10)).toEqual([
    200, 176.4, 161.8, 150, 138.2, 121.4, 100,
  ]);
});
