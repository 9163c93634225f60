import { expect, test } from "vitest";
import { TICS, ticsIn } from "./check-language.mjs";

test.each([
  ["a comment", "// served beside the orders"],
  ["a string", 'throw new Error("no order is under way");'],
  ["an identifier in camelCase", "const ordersUnderWay = 1;"],
  ["a constant", "const AT_THE_DOOR = 1;"],
  ["a class", "class FrontHouse {}"],
  ["a phrase broken over two lines of a comment", "/**\n * orders that are under\n * way\n */"],
])("%s: rejected", (_, text) => {
  expect(ticsIn("a.ts", text)).toHaveLength(1);
});

test("a tic: reported with file, line and the plain alternative", () => {
  expect(ticsIn("a.ts", "const a = 1;\n// built anew\n")).toEqual([
    'a.ts:2: "anew": again; rebuilt, reloaded',
  ]);
});

test.each([
  "Besides the order, the desktop, a clearinghouse and indoors.",
  "the orders under a wayward name",
  "let it be: a told story",
])("%s: accepted, other words contain a tic's letters", (text) => {
  expect(ticsIn("a.md", text)).toEqual([]);
});

test("the list: every entry has a plain alternative and matches lower-case words", () => {
  for (const [words, plain] of TICS) {
    expect(words).toMatch(/^[a-z ?:|()]+$/);
    expect(plain, words).not.toBe("");
  }
});
