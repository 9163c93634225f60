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

test("table: undo goes on when the numbers of its epochs begin again", () => {
  const undo = new UndoLog();
  const table = new Table(STRIDE, undo, 4);
  table.append();
  undo.begin();
  // Row 0 was saved in the epoch whose number comes again.
  table.touch(0);
  const before = undo.epoch;
  undo.epoch = 2 ** 31 - 1;
  undo.begin();
  while (undo.epoch < before) undo.begin();
  table.touch(0);
  table.data[0] = 7;
  undo.rollback();
  expect(undo.epoch).toBeLessThan(10);
  expect(table.data[0]).toBe(0);
});

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

for (const seed of [1, 2]) {
  test(`id index over rows that have the ids, seed ${seed}: like a Map while it grows`, () => {
    const random = new Random(seed, "rows");
    const rows = { data: new Float64Array(16 * 150_000) };
    const index = new IdIndex(8, [random.uint32(), random.uint32()], rows);
    const map = new Map<number, number>();
    const live: number[] = [];
    let id = 0;
    let used = 0;
    for (let step = 0; step < 150_000; step++) {
      if (live.length === 0 || random.chance(0.65)) {
        // Some with exits, whose ids are a quarter and a half more.
        id = Math.floor(id) + random.pick([1, 1, 2, 1.25, 1.5, 2 ** 20]);
        rows.data[16 * used] = id;
        index.set(id, used);
        map.set(id, used++);
        live.push(id);
      } else {
        const at = random.below(live.length);
        const gone = live[at]!;
        live[at] = live[live.length - 1]!;
        live.pop();
        index.delete(gone);
        rows.data[16 * map.get(gone)!] = 0;
        map.delete(gone);
        if (index.get(gone) !== -1) expect.unreachable(`${gone} is still there`);
      }
      const asked = random.chance(0.5) ? random.pick([...live.slice(-9), 1]) : random.below(id);
      if (index.get(asked) !== (map.get(asked) ?? -1)) expect.unreachable(`${asked} differs`);
      if (step % 30_000 !== 0) continue;
      for (const [key, row] of map) if (index.get(key) !== row) expect(index.get(key)).toBe(row);
    }
    expect(map.size).toBeGreaterThan(40_000);
    for (const gone of live) index.delete(gone);
    for (const gone of live) expect(index.get(gone)).toBe(-1);
  });
}

test("id index over rows: entries far from their home are found and removed, too", () => {
  const rows = { data: new Float64Array(16 * 600) };
  const index = new IdIndex(2_048, undefined, rows);
  // An order and its exits have one home; here many.
  const ids = Array.from({ length: 300 }, (_, i) => 5 + i / 1_024);
  for (const [row, id] of ids.entries()) {
    rows.data[16 * row] = id;
    index.set(id, row);
  }
  for (const [row, id] of ids.entries()) expect(index.get(id)).toBe(row);
  for (let row = 0; row < 300; row += 2) index.delete(ids[row]!);
  for (const [row, id] of ids.entries()) expect(index.get(id)).toBe(row % 2 === 0 ? -1 : row);
});
