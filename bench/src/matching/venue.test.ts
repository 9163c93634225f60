import { Random } from "@perpgate/protocol/random";
import { describe, expect, test } from "vitest";
import { MatchingVenue } from "./venue.js";
import { BUY, CANCEL, MODIFY, NEW, readWorkload, SELL, Workload } from "./workload.js";

const SEED = 20_261_118;

interface Resting {
  readonly id: number;
  readonly side: number;
  price: number;
  lots: number;
}

/** Price, then time, over one array; the reports are the lines that the harness describes. */
class NaiveBook {
  private readonly resting: Resting[] = [];

  lines(workload: Workload, sequence: number): string[] {
    const id = workload.order[sequence]!;
    const side = workload.side[sequence]!;
    const price = workload.price[sequence]!;
    const lots = workload.lots[sequence]!;
    const type = workload.type[sequence]!;
    const at = this.resting.findIndex((order) => order.id === id);
    if (type === NEW) {
      const { trades, left } = this.take({ id, side, price, lots }, sequence);
      const ack = `0,${sequence},${side},${id},${price},${lots}`;
      if (left === 0) return [ack, ...trades];
      if (workload.ioc[sequence] === 1)
        return [ack, ...trades, `2,${sequence},${side},${id},${price}`];
      this.resting.push({ id, side, price, lots: left });
      return [ack, ...trades];
    }
    if (at < 0) return [`${type === CANCEL ? 4 : 5},${sequence},${id}`];
    const [old] = this.resting.splice(at, 1);
    if (type === CANCEL) return [`2,${sequence},${old!.side},${id},${old!.price}`];
    const { trades, left } = this.take({ id, side, price, lots }, sequence);
    if (left > 0) this.resting.push({ id, side, price, lots: left });
    return [...trades, `3,${sequence},${side},${id},${price},${lots}`];
  }

  private take(taker: Resting, sequence: number): { trades: string[]; left: number } {
    const trades: string[] = [];
    let left = taker.lots;
    const sign = taker.side === BUY ? 1 : -1;
    while (left > 0) {
      let maker: Resting | undefined;
      for (const order of this.resting) {
        if (order.side === taker.side || (order.price - taker.price) * sign > 0) continue;
        if (maker === undefined || (order.price - maker.price) * sign < 0) maker = order;
      }
      if (maker === undefined) break;
      const lots = Math.min(left, maker.lots);
      trades.push(`1,${sequence},${maker.price},${lots},${maker.id},${taker.id}`);
      left -= lots;
      maker.lots -= lots;
      if (maker.lots === 0) this.resting.splice(this.resting.indexOf(maker), 1);
    }
    return { trades, left };
  }
}

/** A third of the messages are new orders near one price; changes name any order so far, or none. */
function randomWorkload(messages: number): Workload {
  const random = new Random(SEED);
  const workload = new Workload(messages);
  const sides: number[] = [];
  for (let i = 0; i < messages; i++) {
    const isNew = i === 0 || random.next() < 0.4;
    const order = isNew ? sides.push(random.below(2)) : 1 + random.below(sides.length + 5);
    workload.type[i] = isNew ? NEW : random.next() < 0.5 ? CANCEL : MODIFY;
    workload.order[i] = order;
    workload.side[i] = sides[order - 1] ?? SELL;
    workload.ioc[i] = isNew && random.next() < 0.2 ? 1 : 0;
    workload.price[i] = 33_500 + random.below(12);
    // Always more than before: with as many or fewer at one price the engine's order keeps its place, the
    // harness's does not, and the harness sends none of those.
    workload.lots[i] = isNew ? 1 + random.below(100) : 100 + i;
  }
  return workload;
}

test("the engine behind the harness's messages: a naive book gives the same reports", () => {
  const workload = randomWorkload(6_000);
  const venue = new MatchingVenue(workload, 8);
  const book = new NaiveBook();
  const expected: string[] = [];
  for (let i = 0; i < workload.length; i++) {
    venue.deliver(i);
    expected.push(...book.lines(workload, i));
  }
  const lines = [...venue.reports.text()].join("").split("\n");
  const differs = lines.findIndex((line, i) => line !== expected[i]);
  expect([differs, lines[differs]], `seed ${SEED}`).toEqual([-1, undefined]);
  expect(lines).toHaveLength(expected.length);
  for (const type of [0, 1, 2, 3, 4, 5]) expect(venue.reports.count(type)).toBeGreaterThan(100);
});

describe("a workload file", () => {
  const bytes = new Uint8Array(16 + 2 * 40);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode("100_WBEM"));
  view.setUint32(8, 1, true);
  view.setUint32(12, 2, true);
  bytes.set([MODIFY, SELL, 0, 0, 7], 16 + 40);
  view.setBigUint64(16 + 40 + 8, 1n, true);
  view.setBigUint64(16 + 40 + 16, 9n, true);
  view.setBigInt64(16 + 40 + 24, 33_504n, true);

  test("a message has its fields at the harness's places", () => {
    const { length, type, side, lots, order, price } = readWorkload(bytes);
    expect([length, type[1], side[1], lots[1], order[1], price[1]]).toEqual([
      2,
      MODIFY,
      SELL,
      7,
      9,
      33_504,
    ]);
  });

  test("another file, another version and a file cut short are refused", () => {
    const version = bytes.slice();
    version[8] = 2;
    expect(() => readWorkload(bytes.slice(1))).toThrow("not a workload");
    expect(() => readWorkload(version)).toThrow("workload version 2");
    expect(() => readWorkload(bytes.slice(0, -1))).toThrow("cut short");
  });
});
