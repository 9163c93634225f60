/** What pending stops add to an account's exposure. */
import { expect, test } from "vitest";
import { Venue } from "../scenarios/venue.js";

test("stops: their notional stays a safe integer and is given back exactly", () => {
  const venue = new Venue();
  const alice = venue.trader("alice");
  const ids: number[] = [];
  // A stop needs no money: each of these is worth about $189 million.
  for (let i = 0; i < 120; i++) {
    const margin = 18_900_003 - i * 1_013.7;
    const answer = alice.buys("stop", { margin, leverage: 10, price: 499_999.9 - i * 0.2 });
    if (answer.status === "pending") ids.push(answer.orderId);
  }
  const { positions } = venue.market();
  const row = positions.rowOf(alice.account);
  expect(Number.isSafeInteger(positions.pendingNotional(row))).toBe(true);
  ids.sort((a, b) => ((a * 7_919) % 127) - ((b * 7_919) % 127));
  for (const id of ids) alice.cancels(id);
  expect(positions.pendingNotional(row)).toBe(0);
});
