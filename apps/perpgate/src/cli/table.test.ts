import { describe, expect, test } from "vitest";
import { colours, noPaint, paintFor } from "./style.js";
import { type Column, listText, tableText } from "./table.js";

interface Row {
  readonly name: string;
  readonly amount: number;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: "name", cell: ({ name }) => name },
  {
    title: "amount",
    align: "right",
    cell: ({ amount }) => ({ text: String(amount), tone: amount < 0 ? "bad" : "plain" }),
  },
  { title: "note", cell: ({ amount }) => (amount < 0 ? "owed" : "") },
];

const ROWS: readonly Row[] = [
  { name: "BTCUSD", amount: 12_345 },
  { name: "X", amount: -7 },
];

describe("tableText", () => {
  test("text to the left, numbers to the right, no trailing spaces", () => {
    expect(tableText(COLUMNS, ROWS, noPaint)).toBe(
      ["name    amount  note", "BTCUSD   12345", "X           -7  owed"].join("\n"),
    );
  });

  test("colour does not shift a column", () => {
    const escapes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
    const painted = tableText(COLUMNS, ROWS, colours);
    expect(painted).toContain("\x1b[31m-7\x1b[0m");
    expect(painted.replaceAll(escapes, "")).toBe(tableText(COLUMNS, ROWS, noPaint));
  });

  test("control characters of a server: replaced", () => {
    const text = tableText(COLUMNS, [{ name: "\x1b[2J\u202eevil\r\n", amount: 1 }], noPaint);
    expect(text).toContain("\u{fffd}[2J\u{fffd}evil\u{fffd}\u{fffd}");
    expect(text.split("\n")).toHaveLength(2);
  });

  test("a list: the values begin in one column", () => {
    const entries = [
      ["fee", "0.1"],
      ["position", "flat"],
    ] as const;
    expect(listText(entries, noPaint)).toBe("  fee       0.1\n  position  flat");
  });
});

test.each<[string, boolean, NodeJS.ProcessEnv, boolean]>([
  ["a terminal", true, {}, true],
  ["a pipe", false, {}, false],
  ["NO_COLOR", true, { NO_COLOR: "1" }, false],
  ["an empty NO_COLOR", true, { NO_COLOR: "" }, true],
  ["a dumb terminal", true, { TERM: "dumb" }, false],
])("colour: %s", (_, isTerminal, environment, isColoured) => {
  expect(paintFor({ isTerminal, environment })("x", "good") !== "x").toBe(isColoured);
});
