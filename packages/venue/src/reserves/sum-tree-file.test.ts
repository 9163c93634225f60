import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addressOf } from "@perpgate/engine/testing";
import { rootOfSums, sumLeafBytes } from "@perpgate/protocol/receipts";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { readAccountPath, writeSumTree } from "./sum-tree-file.js";
import { TreeFolder } from "./tree-folder.js";

const KEY = Buffer.alloc(32, 9);

test("a tree of random balances: each path leads to the root, and no changed leaf does", () => {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-tree-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "7.tree");
  const amount = fc.integer({ min: 0, max: 2 ** 46 });
  fc.assert(
    fc.property(fc.array(amount, { minLength: 1, maxLength: 40 }), (amounts) => {
      const balances = Float64Array.from(amounts);
      const addresses = amounts.map((_, i) => addressOf(i + 1));
      const head = writeSumTree(path, KEY, { position: 7, timeMs: 1 }, { addresses, balances });
      const sum = amounts.reduce((all, each) => all + each, 0);
      expect(head).toMatchObject({ leaves: amounts.length, sumMicros: sum });
      for (const [i, address] of addresses.entries()) {
        const found = readAccountPath(path, i);
        if (found === undefined) throw new Error(`no leaf ${i}`);
        expect(found.balanceMicros).toBe(amounts[i]);
        const nodes = found.path.map((node) => ({ ...node, hash: Buffer.from(node.hash, "hex") }));
        const rootOf = (of: string, salt: Buffer, balance: number) => {
          const root = rootOfSums(sumLeafBytes(Buffer.from(of, "hex"), salt, balance), nodes);
          return root && Buffer.from(root.hash).toString("hex");
        };
        expect(rootOf(address, found.salt, found.balanceMicros)).toBe(head?.root);
        expect(rootOf(address, found.salt, found.balanceMicros + 1)).not.toBe(head?.root);
        expect(rootOf(addressOf(99), found.salt, found.balanceMicros)).not.toBe(head?.root);
        expect(rootOf(address, Buffer.alloc(16), found.balanceMicros)).not.toBe(head?.root);
      }
      expect(readAccountPath(path, amounts.length)).toBeUndefined();
    }),
    { numRuns: 60 },
  );
  const at = { position: 7, timeMs: 1 };
  for (const wrong of [[-1], [2 ** 53], [2 ** 52, 2 ** 52]]) {
    const addresses = wrong.map((_, i) => addressOf(i + 1));
    const balances = Float64Array.from(wrong);
    expect(writeSumTree(path, KEY, at, { addresses, balances })).toBeUndefined();
  }
});

test("counted again with another key: the tree that was committed stays; one of another sum is replaced", () => {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-tree-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const at = { position: 7, timeMs: 1 };
  const addresses = [1, 2, 3].map(addressOf);
  const owed = (...amounts: number[]) => ({ addresses, balances: Float64Array.from(amounts) });
  const [before, after] = [
    new TreeFolder(folder, KEY),
    new TreeFolder(folder, Buffer.alloc(32, 4)),
  ];
  const first = before.write(at, owed(5, 6, 7));
  const path = before.accountPath(7, 1);
  expect(after.write(at, owed(5, 6, 7))).toEqual(first);
  expect(after.accountPath(7, 1)).toEqual(path);
  expect(first !== undefined && after.isOwn(first)).toBe(false);
  expect(after.write(at, owed(5, 6, 8))).toMatchObject({ sumMicros: 19 });
});
