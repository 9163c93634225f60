import { expect, test } from "vitest";
import { parseSessionKey } from "../accounts/session-key.js";
import { visitedCharacters } from "../testing/visited-characters.js";
import { bytesFromHex, hexFromBytes } from "./hex.js";

test("bytesFromHex: every byte in either case, 0x optional", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  const digits = hexFromBytes(bytes);
  expect(bytesFromHex(digits)).toEqual(bytes);
  expect(bytesFromHex(`0x${digits.toUpperCase()}`)).toEqual(bytes);
  expect(bytesFromHex("")).toEqual(new Uint8Array(0));
});

test("bytesFromHex: every other character is rejected", () => {
  for (let code = 0; code < 0x180; code++) {
    const character = String.fromCharCode(code);
    const isDigit = /[0-9a-fA-F]/.test(character);
    expect(bytesFromHex(`1${character}`) !== undefined).toBe(isDigit);
    expect(bytesFromHex(`${character}1`) !== undefined).toBe(isDigit);
  }
  for (const text of ["0", "0x0", "0x0x00", " 00", "00\n"]) {
    expect(bytesFromHex(text)).toBeUndefined();
  }
});

test("bytesFromHex: one visit per digit, and none after the first wrong one", () => {
  const digits = "ab".repeat(32_000);
  expect(visitedCharacters(() => void bytesFromHex(digits)).byCode).toBe(digits.length);
  expect(visitedCharacters(() => void bytesFromHex(`zz${digits}`)).byCode).toBe(2);
});

test("parseSessionKey: text longer than any key is not decoded", () => {
  const visited = visitedCharacters(() => {
    expect(parseSessionKey("ab".repeat(32_000))).toBeUndefined();
  });
  expect(visited.byCode).toBe(0);
});
