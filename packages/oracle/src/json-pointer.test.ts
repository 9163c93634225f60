import { expect, test } from "vitest";
import { valueAtPointer } from "./price-feed.js";

// The document and pointers of RFC 6901, section 5.
const DOCUMENT = {
  foo: ["bar", "baz"],
  "": 0,
  "a/b": 1,
  "c%d": 2,
  "e^f": 3,
  "g|h": 4,
  "i\\j": 5,
  'k"l': 6,
  " ": 7,
  "m~n": 8,
};

test.each<[string, unknown]>([
  ["", DOCUMENT],
  ["/foo", ["bar", "baz"]],
  ["/foo/0", "bar"],
  ["/", 0],
  ["/a~1b", 1],
  ["/c%d", 2],
  ["/e^f", 3],
  ["/g|h", 4],
  ["/i\\j", 5],
  ['/k"l', 6],
  ["/ ", 7],
  ["/m~0n", 8],
  ["/nope", undefined],
  ["/foo/2", undefined],
  ["/foo/-", undefined],
  ["/foo/00", undefined],
  ["/foo/length", undefined],
  ["/foo/0/0", undefined],
  ["/constructor", undefined],
  ["/__proto__", undefined],
])("%s", (pointer, value) => {
  expect(valueAtPointer(DOCUMENT, pointer)).toEqual(value);
});
