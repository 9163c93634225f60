import { expect, test } from "vitest";
import { InFlight } from "./in-flight.js";

interface Asked {
  readonly id: number;
  readonly name: string;
}

function add(inFlight: InFlight<Asked>, name: string): Asked {
  const entry = { id: inFlight.nextId(), name };
  inFlight.add(entry);
  return entry;
}

test("ids rise, and each finds what was added with it until that is deleted", () => {
  const inFlight = new InFlight<Asked>();
  const [first, second] = [add(inFlight, "first"), add(inFlight, "second")];
  expect([first.id, second.id, inFlight.lastId, inFlight.size]).toEqual([1, 2, 2, 2]);
  expect([inFlight.get(1), inFlight.get(2), inFlight.get(3)]).toEqual([first, second, undefined]);
  inFlight.delete(first);
  inFlight.delete(first);
  expect([inFlight.get(1), inFlight.size]).toEqual([undefined, 1]);
});

test("an id that shares the slot of one in flight is left out, and finds nothing", () => {
  const inFlight = new InFlight<Asked>();
  const slow = add(inFlight, "slow");
  const ids = Array.from({ length: 1_000 }, () => {
    const entry = add(inFlight, "quick");
    inFlight.delete(entry);
    return entry.id;
  });
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  expect(ids).not.toContain(257);
  expect(inFlight.get(257)).toBeUndefined();
  inFlight.delete({ id: 257, name: "another" });
  expect([inFlight.get(slow.id), inFlight.size]).toEqual([slow, 1]);
});

test("any number may be in flight, and all are there, oldest first", () => {
  const inFlight = new InFlight<Asked>();
  for (let i = 0; i < 100; i++) inFlight.delete(add(inFlight, "gone"));
  const entries = Array.from({ length: 1_000 }, (_, i) => add(inFlight, String(i)));
  expect(inFlight.size).toBe(1_000);
  expect(inFlight.all()).toEqual(entries);
  expect(entries.map(({ id }) => inFlight.get(id))).toEqual(entries);
});

test("behind the last id of four bytes it begins again, older ones first", () => {
  const inFlight = new InFlight<Asked>();
  inFlight.lastId = 2 ** 32 - 3;
  const entries = Array.from({ length: 4 }, (_, i) => add(inFlight, String(i)));
  expect(entries.map(({ id }) => id)).toEqual([2 ** 32 - 2, 2 ** 32 - 1, 0, 1]);
  expect(inFlight.all()).toEqual(entries);
  expect(entries.map(({ id }) => inFlight.get(id))).toEqual(entries);
});
