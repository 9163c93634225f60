/** The bots of a real process. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { POLL, processesOf, until } from "@perpgate/journal/testing";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { PerpgateClient } from "@perpgate/sdk";
import { expect, test } from "vitest";
import { coarseMarket } from "../testing/coarse-market.js";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
} from "../testing/perpgate-process.js";
import { bridgeOf } from "./bridge/settings-bridge.js";
import { chainSettings } from "./bridge/testing/chain-process.js";
import { checkSettings, joinSettings } from "./settings.js";
import { VenueBots } from "./venue-bots.js";

/** For two process starts on a busy machine. */
const LONGEST_MS = 180_000;
const WITH_BOTS = { PERPGATE_NO_BOTS: "false" };

/** One market with large tiers, and one with coarse ticks and small tiers. */
const MARKETS = [...DEFAULT_MARKETS.slice(0, 1), coarseMarket("ODD")];

async function marketOf(client: PerpgateClient, symbol: string) {
  const { bids, asks } = await client.book(symbol);
  const trades = await client.trades(symbol);
  return { bids: bids.length, asks: asks.length, trades: trades.length };
}

test(
  "bots: quotes and trades in every market; after SIGTERM none of their orders rests, and the index continues",
  async () => {
    const data = join(temporaryFolder(), "data");
    const config = configurationFile({
      markets: MARKETS,
      bots: { levels: 30, tradesPerMinute: 600 },
    });
    const args = ["--port", "0", "--data", data, "--config", config];
    const venue = new PerpgateProcess(args, WITH_BOTS);
    const client = new PerpgateClient({ url: await venue.url() });
    for (const { symbol } of MARKETS) {
      const isTraded = async () => {
        const { bids, asks, trades } = await marketOf(client, symbol);
        return bids > 3 && asks > 3 && trades > 0;
      };
      await until(isTraded, { everyMs: 100 });
    }
    venue.signal("SIGTERM");
    const { code, stdout, stderr } = await venue.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/bots {7}make and take on every market.*--no-bots/);
    expect(stderr).toContain("bots trade");
    expect(stderr).toContain("drained");
    expect(stderr).not.toContain('"level":50');

    // Another start price: the index continues from the log's price.
    const [btc, odd] = MARKETS;
    const moved = configurationFile({
      markets: [btc, { ...odd, index: { startPrice: 20, annualVolatility: 0 } }],
    });
    const quiet = new PerpgateProcess([...args, "--config", moved, "--no-bots"]);
    const again = new PerpgateClient({ url: await quiet.url() });
    for (const { symbol } of MARKETS) {
      expect(await marketOf(again, symbol)).toMatchObject({ bids: 0, asks: 0 });
    }
    expect(await again.markets()).toMatchObject([{}, { symbol: "ODDUSD", indexPrice: 12.5 }]);
    quiet.signal("SIGTERM");
    const after = await quiet.ended;
    expect(after.stdout).toContain("bots       none, because of --no-bots");
    expect(after.stderr).not.toContain("bots trade");
  },
  LONGEST_MS,
);

test.skipIf(process.platform !== "linux")(
  "the bots' process: started again after a kill; ignores signals to the group; ends with a killed venue (needs /proc)",
  async () => {
    const venue = new PerpgateProcess(["--port", "0", "--data", temporaryFolder()], WITH_BOTS);
    const client = new PerpgateClient({ url: await venue.url() });
    const isQuoted = async () => (await marketOf(client, "BTCUSD")).bids > 3;
    await until(isQuoted, { everyMs: 100 });
    const [first = 0] = processesOf("crowd-process.js", venue.pid);
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.kill(first, signal);
    process.kill(first, "SIGKILL");
    await venue.printed(/the bots process ended with SIGKILL/, "stderr");
    const second = () =>
      processesOf("crowd-process.js", venue.pid).find((pid) => pid !== first) ?? 0;
    await until(async () => second() > 0, { everyMs: 100 });
    const pid = second();
    // While it starts, it has no orders to cancel.
    await venue.printed(/bots trade[\s\S]*bots trade/, "stderr");
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.kill(pid, signal);
    await until(isQuoted, { everyMs: 100 });
    expect(processesOf("crowd-process.js", venue.pid)).toEqual([pid]);
    venue.signal("SIGKILL");
    await venue.ended;
    await until(async () => !existsSync(`/proc/${pid}`), { everyMs: 50 });
  },
  LONGEST_MS,
);

test(
  "of several gateways: bots come when it is this one's turn, and leave with their orders",
  async () => {
    const venue = new PerpgateProcess(["--port", "0", "--data", temporaryFolder(), "--no-bots"]);
    const url = await venue.url();
    const client = new PerpgateClient({ url });
    const settings = joinSettings([checkSettings({ bots: { levels: 5 } }, "test.json")]);
    const log = { info: () => undefined, warn: () => undefined };
    let isOurs = false;
    const place = { url, isOurs: () => isOurs };
    const bots = VenueBots.start(settings, bridgeOf(settings, undefined), place, log);
    expect(bots.state).toBe("elsewhere");
    const bids = async () => (await marketOf(client, "BTCUSD")).bids;
    for (let turn = 0; turn < 2; turn++) {
      isOurs = true;
      await expect.poll(bids, POLL).toBeGreaterThan(3);
      expect(bots.state).toBe("trading");
      isOurs = false;
      await expect.poll(() => bots.state, POLL).toBe("elsewhere");
      expect(await bids()).toBe(0);
    }
    await bots.stop(1_000);
  },
  LONGEST_MS,
);

test("a venue with a chain: no bots, whatever the file says", async () => {
  const usdc = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
  const vault = "0xdAC17F958D2ee523a2206206994597C13D831ec7";
  const chain = chainSettings({ rpc: "http://127.0.0.1:1", vault, usdc }, {});
  const settings = joinSettings([checkSettings({ ...chain, bots: { levels: 10 } }, "test.json")]);
  const bridge = bridgeOf(settings, "5e".repeat(32));
  const log = { info: () => undefined, warn: () => undefined };
  const place = { url: "http://127.0.0.1:1", isOurs: () => true };
  const bots = VenueBots.start(settings, bridge, place, log);
  expect(bots.state).toBe("unfunded");
  await bots.stop(1_000);
});

test("settings: a boolean keeps the other settings, and a wrong key is named", () => {
  const file = checkSettings({ bots: { seed: 5, levels: 50 } }, "test.json");
  expect(joinSettings([{ bots: false }, file]).bots).toMatchObject({
    areWanted: false,
    seed: 5,
    levels: 50,
  });
  expect(joinSettings([{ bots: true }, { bots: false }]).bots.areWanted).toBe(true);
  expect(joinSettings([file]).bots).toMatchObject({ areWanted: true, refreshMs: 500 });
  const refused = (bots: unknown) => () => checkSettings({ bots }, "test.json");
  expect(refused({ level: 1 })).toThrow('unknown key "bots.level"');
  expect(refused({ levels: 0 })).toThrow('"bots.levels" must be >= 1');
  expect(refused("no")).toThrow('"bots" must be true, false or an object');
});
