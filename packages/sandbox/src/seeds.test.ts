/**
 * The same seed and script: the same log, to the byte. `npm test -- --long sandbox` runs 1,000 seeds
 * twice, and compares the first with hashes that were written on x86-64: another processor architecture
 * or release of Node would show a difference. After a change of the log that is meant:
 * `UPDATE_HASHES=1 npm test -- --long sandbox`.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startVenue } from "./index.js";

const FILE = new URL("./testing/log-hashes.json", import.meta.url);
/** By `npm test -- --long sandbox` and for other releases of Node; else a few are compared with themselves. */
const GIVEN = process.env.PERPGATE_SANDBOX_SEEDS;
const SEEDS = Number(GIVEN ?? 2);
/** Of this many the file has the hash. */
const WRITTEN = 100;
/** Characters of a hash that the file has. */
const KEPT = 16;
const ORDER = { symbol: "BTCUSD", side: "long", margin: 500, leverage: 20 } as const;

async function hashOf(seed: number): Promise<string> {
  const venue = await startVenue({ seed });
  try {
    const trader = await venue.trader();
    await venue.takers("BTCUSD", { rate: 5 });
    await trader.placeOrder({ ...ORDER, type: "market", stopLoss: { price: 64_000 } });
    await trader.placeOrder({ ...ORDER, type: "limit", price: 63_000 });
    await venue.crash("BTCUSD", { by: 0.05 });
    await venue.advance("10s");
    await trader.cancelAll();
    return (await venue.logHash()).slice(0, KEPT);
  } finally {
    await venue.stop();
  }
}

test(`${SEEDS} seeds: two runs of each have the same log`, async () => {
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
  if (GIVEN === undefined) return;
  const written: unknown = JSON.parse(readFileSync(FILE, "utf8"));
  if (!Array.isArray(written)) throw new Error("no hashes");
  const count = Math.min(SEEDS, WRITTEN);
  expect(hashes.slice(0, count)).toEqual(written.slice(0, count));
});
