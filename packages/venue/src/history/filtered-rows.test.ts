import { expect, test } from "vitest";
import { filteredRows, MAX_LOOKUPS } from "./filtered-rows.js";
import type { Entry } from "./history-table.js";

/** Entries whose value is their id. */
function* entries(count: number): Generator<Entry> {
  for (let id = 1; id <= count; id++) {
    const value = Buffer.alloc(4);
    value.writeUInt32BE(id);
    yield { key: value, value };
  }
}

const idOf = ({ value }: Entry) => value.readUInt32BE(0);

test("entries that are left out without their rows: ten thousand, and where the page ended", () => {
  const found = filteredRows(entries(2 * MAX_LOOKUPS), 10, idOf, () => undefined);
  expect(found).toEqual({ rows: [], read: MAX_LOOKUPS, stoppedAt: MAX_LOOKUPS });
});

test("rows that are read and left out: a thousand at most", () => {
  const found = filteredRows(entries(5_000), 10, idOf, (id) => (id <= 2 ? id : null));
  expect(found).toEqual({ rows: [1, 2], read: 1_002, stoppedAt: 1_002 });
});

test("a full page, and the end of the list: nothing was stopped", () => {
  const all = (id: number) => id;
  expect(filteredRows(entries(50), 10, idOf, all)).toMatchObject({ read: 10, stoppedAt: null });
  expect(filteredRows(entries(5), 10, idOf, all)).toMatchObject({ read: 5, stoppedAt: null });
});
