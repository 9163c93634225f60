/** Which of the waiting stops a tick serves under version 2, against a full sort of all of them. */
import { Random } from "@perpgate/protocol/random";
import { expect, test } from "vitest";
import { refreshWatches } from "../../money/watch.js";
import { LightVenue } from "../rules/light-venue.js";
import { type OrderView, readView } from "../rules/view.js";
import type { Trader } from "../scenarios/trader.js";

const LOT = 0.00001;
const REACHED = 49_600;

/** A stop below the market that opens, or closes if the trader is long. */
function stop(trader: Trader, lots: number, price: number): void {
  const { status } = trader.sells("stop", { size: lots * LOT, leverage: 2, price });
  expect(status).toBe("pending");
}

/** Some long accounts, of which each has many stops, all larger than those of the next. */
function fewHolders(venue: LightVenue, random: Random): void {
  const rich = venue.trader("rich", 1_000_000);
  rich.sells("limit", { size: 1, leverage: 2, price: 50_000 });
  for (let i = 0; i < 4; i++) {
    const holder = venue.trader(`holder ${i}`, 10_000);
    expect(holder.buys("market", { size: 0.1, leverage: 2 }).status).toBe("filled");
    for (let j = 0; j < 40; j++) {
      stop(holder, 1_000 - 200 * i + random.int(0, 20), 49_900 - random.int(0, 200));
    }
  }
}

/** More accounts than the choice keeps, with stops of a few sizes. */
function manyAccounts(venue: LightVenue, random: Random): void {
  for (let i = 0; i < 1_300; i++) {
    const trader = venue.trader(`trader ${i}`, 1);
    stop(trader, random.int(40, 41), 49_900 - random.int(0, 200));
  }
}

/** Closing ones first; one per account in turn, the largest and then the oldest first. */
function sorted(venue: LightVenue): number[] {
  const view = readView(venue.engine);
  const isOther = ({ account, remaining }: OrderView): boolean =>
    remaining > (view.positions.get(account)?.lots ?? 0);
  const byWeight = (a: OrderView, b: OrderView): number => b.remaining - a.remaining || a.id - b.id;
  const turns = new Map<string, number>();
  return view.orders
    .filter(({ isStop }) => isStop)
    .sort(byWeight)
    .map((order) => {
      const last = Number(isOther(order));
      const key = `${order.account} ${last}`;
      const turn = turns.get(key) ?? 0;
      turns.set(key, turn + 1);
      return { order, turn, last };
    })
    .sort((a, b) => a.last - b.last || a.turn - b.turn || byWeight(a.order, b.order))
    .map(({ order }) => order.id);
}

test.each([
  ["a few accounts with many closing stops each", [fewHolders], [1, 2, 3, 4, 5, 10]],
  ["more accounts than are kept, sizes alike", [manyAccounts], [1, 5, 256]],
  ["both", [fewHolders, manyAccounts], [1, 3, 10, 170, 256]],
] as const)("chosen stops: %s", (_title, crowds, limits) => {
  const random = new Random(1, "stop choice");
  const venue = new LightVenue({ version: 2 });
  for (const crowd of crowds) crowd(venue, random);
  venue.index(REACHED);
  const { state } = venue.engine;
  const { stopChoice } = state.scratch;
  for (const book of venue.market().stopBooks) book.reach(venue.market().mark, state.seq + 1);
  refreshWatches(state);
  const expected = sorted(venue);
  for (const limit of limits) {
    stopChoice.choose(state, limit);
    const chosen = [...stopChoice.ids.subarray(0, stopChoice.count)];
    expect(chosen, `at most ${limit}`).toEqual(expected.slice(0, limit));
  }
});
