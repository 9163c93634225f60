import fc from "fast-check";
import { expect, test } from "vitest";
import { clientIdOf, clientIdWords, NO_CLIENT_ID } from "./client-order-id.js";

const CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const ids = fc.string({ unit: fc.constantFrom(...CHARACTERS), minLength: 1, maxLength: 36 });

test("client order ids: every id is five safe integers, and comes back from them", () => {
  fc.assert(
    fc.property(ids, (id) => {
      const words = clientIdWords(id);
      expect(words?.every(Number.isSafeInteger)).toBe(true);
      expect(clientIdOf(words ?? NO_CLIENT_ID)).toBe(id);
    }),
  );
});

test("client order ids: 36 of the largest character fit", () => {
  const longest = "-".repeat(36);
  expect(clientIdOf(clientIdWords(longest) ?? NO_CLIENT_ID)).toBe(longest);
});

test("client order ids: ids that are prefixes of each other differ", () => {
  const words = ["A", "AA", "AAAAAAAA", "AAAAAAAAA"].map((id) => String(clientIdWords(id)));
  expect(new Set(words).size).toBe(4);
});

test("client order ids: what is no id has no numbers, and the empty one none but zeros", () => {
  for (const text of ["-".repeat(37), "a b", "ä", "a.b", "\n"]) {
    expect(clientIdWords(text)).toBeUndefined();
  }
  expect(clientIdWords("")).toEqual(NO_CLIENT_ID);
  expect(clientIdOf(NO_CLIENT_ID)).toBeNull();
});
