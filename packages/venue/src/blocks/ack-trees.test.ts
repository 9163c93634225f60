import { setImmediate as nextTurn } from "node:timers/promises";
import { rootFromPath } from "@perpgate/protocol/core";
import { ackListHash } from "@perpgate/protocol/receipts";
import { expect, onTestFinished, test, vi } from "vitest";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";

/** A venue whose first block has that many acknowledgements, and the rows of each read of them. */
async function withAcks(count: number) {
  const folder = await temporaryFolder();
  const driver = await TestVenue.open(folder);
  onTestFinished(async () => {
    await driver.venue.close();
    await removeFolder(folder);
  });
  await driver.index();
  const session = await driver.signIn(1);
  const orders: ReturnType<TestVenue["order"]>[] = [];
  for (let nonce = 1; nonce <= count; nonce++) {
    orders.push(driver.order(session, nonce, "long", 600_000, 1));
  }
  const placed = await Promise.all(orders);
  await driver.tick();
  const { history } = driver.venue;
  const rows: number[] = [];
  const { acksBetween } = history;
  vi.spyOn(history, "acksBetween").mockImplementation((...range) => {
    const read = acksBetween.apply(history, range);
    rows.push(read.length);
    return read;
  });
  return { history, rows, block: history.block(1)!, seqs: placed.map(({ seq }) => seq) };
}

test("AckTrees: a block of many acknowledgements is read in slices, each in a turn of its own", async () => {
  const { history, rows, block, seqs } = await withAcks(300);
  expect(block.ackCount).toBe(300);
  const charged: number[] = [];
  const building = history.ackTrees.of(block, (count) => charged.push(count));
  const perTurn: number[] = [];
  const count = () => perTurn.push(rows.splice(0).reduce((sum, each) => sum + each, 0));
  let isBuilt = false;
  const built = building.then(() => {
    isBuilt = true;
  });
  while (!isBuilt) {
    count();
    await nextTurn();
  }
  count();
  await built;
  expect(perTurn.filter((each) => each > 0)).toEqual([128, 128, 44]);
  const tree = await building;
  for (const [at, seq] of seqs.entries()) {
    const { index, path } = tree.proof(seq);
    expect(index).toBe(at);
    const root = rootFromPath(history.ack(seq)!.leaf, index, block.ackCount, path);
    expect(block.acksRoot.equals(root!)).toBe(true);
  }
  expect(block.ackListHash.equals(ackListHash(tree.list))).toBe(true);
  expect(charged).toEqual([300]);
});

test("AckTrees: callers share a tree while it is built and after; only the first one reads", async () => {
  const { history, rows, block } = await withAcks(130);
  const charged: number[] = [];
  const ask = () => history.ackTrees.of(block, (count) => charged.push(count));
  const [first, second] = await Promise.all([ask(), ask()]);
  expect(second).toBe(first);
  expect(await ask()).toBe(first);
  expect(rows).toEqual([128, 2]);
  expect(charged).toEqual([130]);
});

test("AckTrees: a history that is closed while a tree is built is not read any more", async () => {
  const { history, rows, block } = await withAcks(130);
  const building = history.ackTrees.of(block, () => undefined);
  history.isClosed = true;
  await expect(building).rejects.toThrow("the history is closed");
  history.isClosed = false;
  expect(rows).toEqual([128]);
  await history.ackTrees.of(block, () => undefined);
  expect(rows).toEqual([128, 128, 2]);
});
