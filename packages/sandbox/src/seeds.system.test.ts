/**
 * The same seed and script: the same log, to the byte. `npm test -- --long sandbox` runs 1,000 seeds
 * twice. The first are compared with hashes that were written on x86-64: another processor architecture
 * or release of Node would show a difference. After a change of the log that is meant:
 * `UPDATE_HASHES=1 npm test -- --long sandbox`.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseScenario, startVenue } from "./index.js";

const FILE = new URL("./testing/log-hashes.json", import.meta.url);
/** By `npm test -- --long sandbox` and for other releases of Node; else a few. */
const SEEDS = Number(process.env.PERPGATE_SANDBOX_SEEDS ?? 2);
/** Of this many the file has the hash. */
const WRITTEN = 100;
/** Characters of a hash that the file has. */
const KEPT = 16;
/** Funding is paid ten seconds later. */
const START = new Date("2026-01-01T00:59:50Z");
const ORDER = { symbol: "BTCUSD", side: "long", margin: 500, leverage: 10 } as const;
const SCENARIO = parseScenario(
  `0s  liquidity BTCUSD levels=10 notional=5000 step=0.001 premium=0.002
1s  price BTCUSD -2% in 3s
2s  restart-gateway 1s
5s  index BTCUSD stops
7s  index BTCUSD follows
11s restart-venue
12s market BTCUSD reduceOnly
13s market BTCUSD resume
14s end`,
  "seeds",
);

/** Orders, funding, a scenario, faults, and a saved moment to which it goes back. */
async function hashOf(seed: number): Promise<string> {
  const venue = await startVenue({ seed, start: START });
  try {
    const trader = await venue.trader();
    await venue.takers("BTCUSD", { rate: 5 });
    await trader.placeOrder({ ...ORDER, type: "market", stopLoss: { price: 61_000 } });
    await trader.placeOrder({ ...ORDER, type: "limit", price: 63_000 });
    await venue.play(SCENARIO);
    const [position] = await trader.positions();
    if (position === undefined || position.fundingPaid === 0)
      throw new Error("no funding was paid");
    const saved = await venue.save();
    await venue.crash("BTCUSD", { by: 0.15 });
    await venue.restore(saved);
    venue.faults.loseAnswers();
    await trader.placeOrder({ ...ORDER, type: "limit", price: 60_000 });
    venue.faults.refuse("overloaded");
    await trader.placeOrder({ ...ORDER, type: "limit", price: 59_000 }).catch(() => undefined);
    await venue.faults.restartGateway({ downFor: "1s" });
    await venue.crash("BTCUSD", { by: 0.05 });
    await venue.advance("5s");
    await trader.cancelAll();
    return (await venue.logHash()).slice(0, KEPT);
  } finally {
    await venue.stop();
  }
}

test(`${SEEDS} seeds: two runs of each have the same log, and the first that of another machine`, async () => {
  const hashes: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const hash = await hashOf(seed);
    expect([seed, await hashOf(seed)]).toEqual([seed, hash]);
    hashes.push(hash);
  }
  expect(new Set(hashes).size).toBe(SEEDS);
  if (process.env.UPDATE_HASHES === "1") {
    writeFileSync(FILE, `${JSON.stringify(hashes.slice(0, WRITTEN), null, 2)}\n`);
  }
  const written: unknown = JSON.parse(readFileSync(FILE, "utf8"));
  if (!Array.isArray(written)) throw new Error("no hashes");
  const count = Math.min(SEEDS, WRITTEN);
  expect(hashes.slice(0, count)).toEqual(written.slice(0, count));
});
