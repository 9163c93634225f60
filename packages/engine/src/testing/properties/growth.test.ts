/** Tables that grow while commands go on, against plain arrays and maps. The seeds are fixed. */
import { Random } from "@perpgate/protocol/random";
import { expect, test } from "vitest";
import { IdIndex } from "../../state/id-index.js";
import { Table, UndoLog } from "../../state/table.js";

const STRIDE = 7;

function rowOf(table: Table, row: number): number[] {
  return [...table.data.subarray(row * STRIDE, (row + 1) * STRIDE)];
}

for (const seed of [1, 2]) {
  test(`table, seed ${seed}: no write and no undo is lost while it grows`, () => {
    const random = new Random(seed, "table");
    const undo = new UndoLog();
    const table = new Table(STRIDE, undo, 4);
    const rows: number[][] = [];
    let grown = 0;
    for (let command = 1; command <= 40_000; command++) {
      undo.begin();
      const before = new Map<number, number[]>();
      const { data } = table;
      // About three quarters of the commands append a row, all change a few.
      if (random.chance(0.75)) {
        expect(table.append()).toBe(rows.length);
        rows.push(Array.from({ length: STRIDE }, () => 0));
      }
      for (let i = random.int(0, 4); i > 0 && rows.length > 0; i--) {
        const row = random.chance(0.3) ? rows.length - 1 : random.below(rows.length);
        const word = random.below(STRIDE);
        if (!before.has(row)) before.set(row, rows[row]!);
        table.touch(row);
        table.data[row * STRIDE + word] = command;
        rows[row] = rows[row]!.with(word, command);
      }
      if (random.chance(0.01)) {
        undo.rollback();
        // Appended rows stay, as rows of zeros.
        for (const [row, words] of before) rows[row] = words;
      }
      if (table.data !== data) grown++;
      if (command % 4_000 !== 0) continue;
      for (const [row, words] of rows.entries()) {
        if (rowOf(table, row).join() !== words.join()) expect(rowOf(table, row)).toEqual(words);
      }
    }
    expect(rows.length).toBeGreaterThan(29_000);
    // The first small sizes grow inside a command, the others between two.
    expect(grown).toBeLessThan(14);
  });
}

test("table: a command that appends to a large one copies no more than a few rows", () => {
  const undo = new UndoLog();
  const table = new Table(STRIDE, undo, 16);
  const lengths: number[] = [];
  for (let command = 0; command < 100_000; command++) {
    undo.begin();
    const before = table.data;
    table.append();
    // Copied in one go only while it is small: later the larger array is ready before it is needed.
    if (table.data !== before) lengths.push(before.length);
  }
  expect(Math.max(...lengths)).toBeLessThan(1 << 16);
});

for (const seed of [1, 2]) {
  test(`id index, seed ${seed}: like a Map while it grows`, () => {
    const random = new Random(seed, "index");
    const index = new IdIndex(8);
    const map = new Map<number, number>();
    const live: number[] = [];
    let id = 0;
    for (let step = 0; step < 150_000; step++) {
      if (live.length === 0 || random.chance(0.65)) {
        id += random.int(1, 3);
        index.set(id, step);
        map.set(id, step);
        live.push(id);
      } else if (random.chance(0.2)) {
        const known = random.pick(live);
        index.set(known, step);
        map.set(known, step);
      } else {
        const at = random.below(live.length);
        const gone = live[at]!;
        live[at] = live[live.length - 1]!;
        live.pop();
        index.delete(gone);
        map.delete(gone);
        if (index.get(gone) !== -1) expect.unreachable(`${gone} is still there`);
      }
      const asked = random.below(id + 2);
      if (index.get(asked) !== (map.get(asked) ?? -1)) expect.unreachable(`${asked} differs`);
      if (step % 30_000 !== 0) continue;
      for (const [key, row] of map) if (index.get(key) !== row) expect(index.get(key)).toBe(row);
    }
    expect(map.size).toBeGreaterThan(40_000);
  });
}
