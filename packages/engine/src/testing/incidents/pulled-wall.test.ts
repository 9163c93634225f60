/**
 * POPCAT on Hyperliquid, 12 November 2025. Nineteen wallets bought $26 million of a small coin at
 * about 5× under a wall of $20 million of bids near $0.21, and pulled the wall. All nineteen were
 * liquidated; the vault that took them over lost $4.9 million.
 *
 * Here: a wall moves the mark by no more than half the maintenance rate from the index, an opening
 * fill above the mark pays the difference from its own margin, open interest is capped, and the fund
 * takes over no more loss than its hourly budget. The rest is deleveraged against the short side.
 */
import { expect, test } from "vitest";
import { Venue } from "../scenarios/venue.js";
import { BUDGET, fundValue, gapsTo, THIN, wealth } from "./scene.js";

const WALLETS = 19;
const CENT = 0.01;

test("a wall pulled under 19 accounts: the fund loses its hourly budget at most", () => {
  const venue = new Venue({ markets: [THIN] });
  const maker = venue.trader("maker", 1_000_000);
  const wall = venue.trader("wall", 1_000_000);
  const bids = wall.buys("limit", { margin: 500_000, leverage: 1, price: 104.9 });
  expect(bids.status).toBe("resting");
  for (let i = 0; i < 50; i++) {
    venue.index(100);
    venue.tick();
    // Half of 2.5 %, the lowest maintenance rate of the market.
    expect(venue.mark()).toBeLessThanOrEqual(101.25);
  }
  maker.sells("limit", { margin: 400_000, leverage: 1, price: 105, postOnly: true });
  const wallets = Array.from({ length: WALLETS }, (_, i) => venue.trader(`wallet ${i}`, 6_000));
  for (const wallet of wallets) {
    const margin = 4_000;
    const { status } = wallet.buys("market", { margin, leverage: 5 });
    expect(status).toBe("filled");
    // Margin holds the loss against the mark as well.
    expect(wallet.position().margin).toBeGreaterThan(margin + 600);
  }
  const before = { fund: fundValue(venue), all: wealth(maker, wall, ...wallets) };
  expect(wall.cancels(bids.orderId)).toBeNull();
  gapsTo(venue, 60, THIN);
  for (const wallet of wallets) expect(wallet.position().size).toBe(0);
  expect(fundValue(venue)).toBeGreaterThanOrEqual(before.fund - BUDGET - CENT);
  expect(wealth(maker, wall, ...wallets)).toBeLessThanOrEqual(before.all + BUDGET + CENT);
  expect(venue.market().halted).toBe(false);
});
