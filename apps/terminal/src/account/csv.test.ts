import { expect, test } from "vitest";
import { csvOf } from "./csv.js";

test("csv: fields under their names, quoted where needed, nothing that a spreadsheet computes", () => {
  const rows = [
    { id: "7-0", amount: -1.5, note: 'a "b", c', of: null },
    { id: "=1+1", amount: 0.000001, exits: [{ price: 1 }] },
    { id: "-x", amount: 1e-7, isOn: true },
  ];
  expect(csvOf(rows).split("\r\n")).toEqual([
    "id,amount,note,of,exits,isOn",
    '7-0,-1.5,"a ""b"", c",,,',
    `'=1+1,0.000001,,,"[{""price"":1}]",`,
    "'-x,1e-7,,,,true",
    "",
  ]);
  expect(csvOf([])).toBe("\r\n");
});
