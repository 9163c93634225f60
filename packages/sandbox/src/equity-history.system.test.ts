/** The SDK's history of equity against a venue that is traded at random: what it says was read at the time. */

import { Random } from "@perpgate/protocol/random";
import { equityHistory, type Session } from "@perpgate/sdk";
import { expect, onTestFinished, test } from "vitest";
import { type SandboxVenue, startVenue } from "./index.js";

const STEP_MS = 300_000;
const TICK_MS = 200;
const MARKETS = ["BTCUSD", "ETHUSD"] as const;
/** Funding is rounded when it is booked, each hour of it is not. */
const MICROS = 5e-6;

async function started(seed: number): Promise<SandboxVenue> {
  const venue = await startVenue({ seed, markets: MARKETS, liquidity: { premium: 0.001 } });
  onTestFinished(() => venue.stop());
  return venue;
}

async function refusable(sent: Promise<unknown>): Promise<void> {
  await sent.catch(() => undefined);
}

class Trading {
  /** Deposited so far. */
  funds = 20_000;

  constructor(
    private readonly venue: SandboxVenue,
    private readonly trader: Session,
    private readonly random: Random,
  ) {}

  async act(): Promise<void> {
    const { venue, trader, random } = this;
    const symbol = MARKETS[random.below(2)] ?? "BTCUSD";
    const { mark } = await venue.client().ticker(symbol);
    const price = mark ?? 1;
    const side = random.chance(0.5) ? "long" : "short";
    const order = {
      symbol,
      side,
      margin: random.int(50, 2_000),
      leverage: random.int(1, 40),
    } as const;
    switch (random.below(8)) {
      case 0:
        return venue.price(symbol, price * random.between(0.97, 1.03), { within: "2m" });
      case 1:
        return refusable(trader.changeMargin(symbol, random.int(-300, 300)));
      case 2: {
        const amount = random.int(1, 500);
        this.funds += amount;
        return venue.fund(trader.address, amount);
      }
      case 3: {
        const held = (await trader.positions()).find((each) => each.symbol === symbol);
        if (held === undefined) return;
        const size = Math.abs(held.size);
        const away = held.side === "long" ? "short" : "long";
        const close = { symbol, side: away, type: "market", size, leverage: 1 } as const;
        return refusable(trader.placeOrder({ ...close, reduceOnly: true }));
      }
      case 4:
        return refusable(
          trader.placeOrder({
            ...order,
            type: "limit",
            price: Math.round(price * (side === "long" ? 0.998 : 1.002)),
          }),
        );
      default:
        return refusable(trader.placeOrder({ ...order, type: "market" }));
    }
  }
}

test.each([1, 2])("a venue traded at random, seed %i: equity at each moment", async (seed) => {
  const venue = await started(seed);
  const random = new Random(seed, "equity");
  const trader = await venue.trader({ funds: 20_000 });
  const trading = new Trading(venue, trader, random);
  const times: number[] = [];
  const read: number[] = [];
  for (let turn = 0; turn < 20; turn++) {
    for (let act = random.below(4); act > 0; act--) await trading.act();
    if (turn === 14) await venue.crash("BTCUSD", { by: 0.2 });
    const next = (Math.floor(venue.time / STEP_MS) + 1) * STEP_MS;
    await venue.advance(next - TICK_MS - venue.time);
    times.push(next);
    read.push((await trader.account()).equity);
    // What is done next belongs to the next candle.
    await venue.advance(TICK_MS);
  }
  // Into the next span.
  await venue.advance("1m");
  const { points, isCut } = await equityHistory(venue.client(), trader, { resolution: "5m" });
  const account = await trader.account();
  expect(isCut).toBe(false);
  expect(points.at(-1)).toMatchObject({ time: venue.time, equity: account.equity });
  expect(points.at(-1)?.pnl).toBeCloseTo(account.equity - trading.funds, 6);
  expect(points[0]).toMatchObject({ equity: 0, pnl: 0 });
  const said = new Map(points.map(({ time, equity }) => [time, equity]));
  const wrong = times.flatMap((time, at) => {
    const [is, was] = [said.get(time) ?? Number.NaN, read[at] ?? Number.NaN];
    return Math.abs(is - was) <= MICROS
      ? []
      : [`${new Date(time).toISOString()}: ${is}, was ${was}`];
  });
  expect(wrong).toEqual([]);
  const kinds = new Set((await trader.ledger({ limit: 1_000 })).map(({ kind }) => kind));
  expect([...kinds]).toEqual(expect.arrayContaining(["deposit", "fee", "pnl", "funding"]));
});
