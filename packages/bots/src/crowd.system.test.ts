/** The crowd against a real gateway: what traders see of it, and what is left when it stops. */

import { readFileSync } from "node:fs";
import { type ChildProgram, startChild } from "@perpgate/journal/child";
import type { Fill, Order, Session } from "@perpgate/sdk";
import { expect, onTestFinished, test } from "vitest";
import { type BotSettings, DEFAULT_BOTS } from "./bot-settings.js";
import { botWallet, Crowd } from "./crowd.js";
import { BotsProcess } from "./process/bots-process.js";
import type { CrowdData, FromCrowd } from "./process/crowd-process.js";
import { eventually, LivingVenue } from "./testing/living-venue.js";

const FAST: BotSettings = {
  ...DEFAULT_BOTS,
  levels: 40,
  refreshMs: 150,
  actionsPerSecond: 1_000,
  tradesPerMinute: 600,
  gamblers: 3,
};
const SILENT = { info: () => undefined, warn: () => undefined };

/** Undefined until each market has `levels` on both sides, and trades. */
async function areActive({ client, symbols }: LivingVenue, levels: number) {
  for (const symbol of symbols) {
    const { bids, asks } = await client.book(symbol, { depth: 1_000 });
    if (bids.length < levels || asks.length < levels) return undefined;
    if ((await client.trades(symbol, { limit: 1 })).length === 0) return undefined;
  }
  return true;
}

function sessionsOf({ client }: LivingVenue, names: readonly string[]): Promise<Session[]> {
  return Promise.all(names.map((name) => client.signIn({ account: botWallet(FAST.seed, name) })));
}

test("every market gets depth and trades; gamblers are liquidated; after the stop no order rests", async () => {
  const living = await LivingVenue.start();
  const { client, prices } = living;
  const crowd = new Crowd({ url: living.at.url }, FAST, SILENT);
  let isStopped = false;
  onTestFinished(() => (isStopped ? undefined : crowd.stop(3_000)));
  await eventually(() => areActive(living, 20));
  const gamblers = await sessionsOf(living, ["gambler 1", "gambler 2", "gambler 3"]);
  const bet = await eventually(async () => {
    for (const gambler of gamblers) {
      const [position] = await gambler.positions();
      if (position !== undefined) return { gambler, ...position };
    }
    return undefined;
  });
  // A loss above any gambler's margin.
  const price = prices.get(bet.symbol) ?? 0;
  const moved = Math.round(price * (bet.size > 0 ? 0.92 : 1.08));
  prices.set(bet.symbol, moved);
  const isLiquidation = ({ kind, symbol }: Fill) => kind !== "order" && symbol === bet.symbol;
  await eventually(async () => (await bet.gambler.fills()).find(isLiquidation));
  // The makers follow.
  await eventually(async () => {
    const { bid, ask } = await client.ticker(bet.symbol);
    if (bid === null || ask === null) return undefined;
    return Math.abs(bid / moved - 1) < 0.01 && Math.abs(ask / moved - 1) < 0.01 ? true : undefined;
  });
  await crowd.stop(20_000);
  isStopped = true;
  for (const symbol of living.symbols) {
    expect(await client.book(symbol)).toMatchObject({ bids: [], asks: [] });
  }
});

test("a market that is listed later gets depth and trades; one that is halted is left until it resumes", async () => {
  const living = await LivingVenue.start();
  const { client, prices } = living;
  const crowd = new Crowd({ url: living.at.url }, { ...FAST, gamblers: 0 }, SILENT);
  onTestFinished(() => crowd.stop(3_000));
  await eventually(() => areActive(living, 5));

  await living.list("ADAUSD", 120);
  await eventually(() => areActive(living, 20));

  await living.control("ADAUSD", "halt");
  prices.set("ADAUSD", 130);
  await living.control("ADAUSD", "resume");
  await eventually(async () => {
    const { bid, ask } = await client.ticker("ADAUSD");
    return (bid ?? 0) > 125 && (ask ?? 0) > 130 ? true : undefined;
  });
});

test("outside the cohort: waits; admitted: trades; killed and started again: keeps its orders", async () => {
  const living = await LivingVenue.start({ cohort: "closed" });
  const first = new CrowdProcess(living.at.url);
  await first.logged("a bot waits for the cohort");
  expect(await levelsIn(living)).toBe(0);
  const stampMs = living.at.nowMs();
  await living.at.execute({
    kind: "SetCohort",
    stampMs,
    expiresAtMs: stampMs + 60_000,
    stage: "open",
    allow: [],
    disallow: [],
  });
  await eventually(() => areActive(living, 20));

  // A crash: no stop message. Venue time is paused, so that the cancel timer cannot fire.
  living.isPaused = true;
  await first.kill();
  const makers = await sessionsOf(living, ["maker 1", "maker 2", "maker 3"]);
  const openOrders = async () =>
    (await Promise.all(makers.map((maker) => maker.openOrders()))).flat();
  const before = await openOrders();
  const last = lastOf(before);
  const second = new CrowdProcess(living.at.url);
  const after = await eventually(async () => {
    const orders = await openOrders();
    return lastOf(orders) > last ? orders : undefined;
  });
  const known = new Set(before.map(({ orderId }) => orderId));
  const kept = after.filter(({ orderId }) => known.has(orderId));
  expect(before.length).toBeGreaterThan(100);
  expect(kept.length).toBeGreaterThan(0.5 * before.length);
  await second.kill();
});

test("the guide names the makers of the usual seed", () => {
  const guide = readFileSync(new URL("../../../docs/bots.md", import.meta.url), "utf8");
  const named = [...guide.matchAll(/--allow (0x\w+)/g)].map(([, address]) => address);
  const makers = ["maker 1", "maker 2", "maker 3"];
  expect(named).toEqual(makers.map((name) => botWallet(DEFAULT_BOTS.seed, name).address));
});

test("bots that cannot run: logged, and started again", async () => {
  const warnings: object[] = [];
  const bots = new BotsProcess({ url: "ftp://127.0.0.1" }, FAST, {
    info: () => undefined,
    warn: (message, fields) => warnings.push({ message, ...fields }),
  });
  bots.start();
  await eventually(async () => (warnings.length >= 2 ? true : undefined));
  await bots.stop(1_000);
  expect(warnings.slice(0, 2)).toMatchObject([
    { message: "the bots ended and are started again", waitMs: 1_000 },
    { reason: expect.stringContaining("http"), waitMs: 2_000 },
  ]);
});

async function levelsIn({ client, symbols }: LivingVenue): Promise<number> {
  const books = await Promise.all(symbols.map((symbol) => client.book(symbol)));
  return books.reduce((levels, { bids, asks }) => levels + bids.length + asks.length, 0);
}

function lastOf(orders: readonly Order[]): number {
  return Math.max(0, ...orders.map(({ orderId }) => Number(orderId)));
}

/** So that a test can kill it. */
class CrowdProcess {
  private readonly program: ChildProgram;
  private readonly messages = new Set<string>();

  constructor(url: string) {
    const data: CrowdData = { venue: { url }, settings: { ...FAST, gamblers: 0 } };
    this.program = startChild<FromCrowd>("bots", "./process/crowd-process.js", import.meta.url, {
      data,
      heapMb: 256,
      onMessage: ({ message }) => this.messages.add(message),
    });
    onTestFinished(() => this.kill());
  }

  async logged(message: string): Promise<void> {
    await eventually(async () => (this.messages.has(message) ? true : undefined));
  }

  async kill(): Promise<void> {
    this.program.child.kill("SIGKILL");
    await this.program.exited;
  }
}
