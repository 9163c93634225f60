/** Liquidations, funding and the fund, as an operator sees them of a real venue. */

import { runVenue, Trader } from "@perpgate/gateway/testing";
import { venueConfigOf } from "@perpgate/venue";
import { TestVenue } from "@perpgate/venue/testing";
import { Registry } from "prom-client";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../testing/perpgate-process.js";
import { watchRisk } from "./risk-watch.js";
import { DEFAULT_SETTINGS } from "./settings.js";

/** Shortly before an hour is full. */
const START_MS = Date.parse("2026-06-01T12:59:55Z");

test("a liquidation and an hour of funding: counted, said, and the fund has its fee", async () => {
  const at = await runVenue({ startMs: START_MS });
  const registry = new Registry();
  const said: object[] = [];
  const log = {
    info: (fields: object, message: string) => said.push({ message, ...fields }),
    warn: (fields: object, message: string) => said.push({ message, ...fields }),
    error: (fields: object, message: string) => said.push({ message, ...fields }),
  };
  watchRisk(at.venue, log, registry);
  expect(await registry.metrics()).toContain('perpgate_liquidations_total{symbol="BTCUSD"} 0');

  await at.setIndex("BTCUSD", 65_000);
  const [maker, gambler] = [await Trader.enter(at), await Trader.enter(at)];
  await maker.place(maker.limit("short", 65_000, { margin: 1_000, leverage: 5 }));
  await gambler.place(gambler.order({ margin: 100, leverage: 50 }));
  // Someone to sell to, above the bankruptcy price.
  await maker.place(maker.limit("long", 64_200, { margin: 2_000, leverage: 5 }));
  await at.setIndex("BTCUSD", 64_300);
  await at.advance(200);
  expect(said).toMatchObject([
    { message: "a position was liquidated", symbol: "BTCUSD", isBackstopped: false },
  ]);
  const metrics = await registry.metrics();
  expect(metrics).toContain('perpgate_liquidations_total{symbol="BTCUSD"} 1');
  expect(Number(/^perpgate_fund_dollars (.*)$/m.exec(metrics)?.[1])).toBeGreaterThan(1_000_000);

  expect(metrics).toContain('perpgate_deleveraged_size_total{symbol="BTCUSD"} 0');
  expect(Number(/^perpgate_fund_budget_dollars (.*)$/m.exec(metrics)?.[1])).toBeCloseTo(20_000, 0);
  expect(Number(/^perpgate_fund_loss_dollars (.*)$/m.exec(metrics)?.[1])).toBeLessThan(0);

  await at.advance(10_000);
  expect(said).toContainEqual(
    expect.objectContaining({ message: "funding has accrued", symbol: "BTCUSD" }),
  );
});

test("a fall that neither book nor backstop takes: unabsorbed and deleveraged are the size closed", async () => {
  const at = await runVenue({ startMs: START_MS, parameters: { backstopCap: 0 } });
  const registry = new Registry();
  const said: object[] = [];
  const info = (fields: object) => said.push(fields);
  watchRisk(at.venue, { info, warn: info, error: info }, registry);
  await at.setIndex("BTCUSD", 65_000);
  const [maker, gambler] = [await Trader.enter(at), await Trader.enter(at)];
  await maker.place(maker.limit("short", 65_000, { margin: 1_000, leverage: 5 }));
  const { body } = await gambler.place(gambler.order({ margin: 100, leverage: 50 }));
  const filledSize = Number(body.filledSize);
  expect(filledSize).toBeGreaterThan(0);
  await at.setIndex("BTCUSD", 63_000);
  await at.advance(200);
  expect(said).toMatchObject([{ symbol: "BTCUSD", isBackstopped: false, isDeleveraged: true }]);
  const metrics = await registry.metrics();
  for (const name of ["unabsorbed", "deleveraged"]) {
    const line = new RegExp(`^perpgate_${name}_size_total{symbol="BTCUSD"} (.*)$`, "m");
    expect(Number(line.exec(metrics)?.[1]), name).toBeCloseTo(filledSize, 9);
  }
});

test("a market that is listed later: its counters are 0 before the first liquidation", async () => {
  const { markets } = DEFAULT_SETTINGS;
  const before = markets.slice(0, 2);
  const { venue } = await TestVenue.open(temporaryFolder(), {
    config: venueConfigOf(before),
    listing: before,
  });
  onTestFinished(() => venue.close());
  const registry = new Registry();
  const nothing = () => undefined;
  watchRisk(venue, { info: nothing, warn: nothing, error: nothing }, registry);
  await venue.configure({ config: venueConfigOf(markets), attestors: null, listing: markets });
  const metrics = await registry.metrics();
  for (const name of ["liquidations", "unabsorbed_size", "deleveraged_size"]) {
    expect(metrics).toContain(`perpgate_${name}_total{symbol="SOLUSD"} 0\n`);
  }
});
