import { readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseScenario, type SavedVenue, scenarioNames, startVenue } from "../index.js";
import { ACTIONS } from "./actions.js";
import { namedScenario } from "./scenario.js";

test.each([
  ["10s pryce BTCUSD 1\n1m end", "s:1:5: no action is called pryce: there is price, index,"],
  ["10s price BTCUSD\n1m end", "s:1:17: expected a price or a change such as -15% here"],
  ["10s price BTCUSD -100%", "s:1:18: no price comes from -100%"],
  ["soon price BTCUSD 1", 's:1:1: "soon" is no duration'],
  ["10s drop-sockets\n5s drop-sockets", "s:2:1: times never go back"],
  ["0s liquidity BTCUSD lvls=3", "s:1:21: write levels=… notional=…"],
  ["0s liquidity BTCUSD levels=1 levels=2", "s:1:30: levels is given twice"],
  ["0s takers BTCUSD rate=fast", "s:1:23: rate is a number, not fast"],
  ["0s takers BTCUSD notional=5", "s:1:1: takers need a rate"],
  ["0s refuse busy", "s:1:11: busy is no code of the error table"],
  ["0s drop-sockets now", "s:1:17: the line goes on after its end: now"],
  ["0s drop-sockets", "s: its last line is the end"],
  ["1m end\n2m drop-sockets", "s:2:1: nothing comes after the end"],
  ["0s market BTCUSD close", "s:1:18: market is halt, reduceOnly or resume, not close"],
])("%j: %s", (text, problem) => {
  expect(() => parseScenario(text, "s")).toThrow(problem);
});

describe("playing", () => {
  test("what is only refused while it plays names its line; the next one may begin", async () => {
    const venue = await startVenue({ until: onTestFinished });
    const text = "# a comment\n1s liquidity BTCUSD levels=900\n2s end";
    await expect(venue.play(parseScenario(text, "mine"))).rejects.toThrow(
      "mine:2: levels is a whole number from 1 to 200, not 900",
    );
    await expect(venue.play(parseScenario("1s price ETHUSD 1\n2s end", "mine"))).rejects.toThrow(
      "no market ETHUSD in this sandbox",
    );
    await venue.play(parseScenario("1s end", "mine"));
  });

  test("the same seed and scenario, with a bot's turn each second: the same log", async () => {
    const run = async (): Promise<string> => {
      const venue = await startVenue({ seed: 3, until: onTestFinished });
      const trader = await venue.trader();
      await venue.play("flash-crash", {
        every: "5s",
        each: () =>
          trader
            .placeOrder({ symbol: "BTCUSD", side: "long", type: "market", margin: 50, leverage: 5 })
            .catch(() => undefined),
      });
      return venue.logHash();
    };
    expect(await run()).toBe(await run());
  });

  test("a market that is resumed: quoted again, although its price has stood still", async () => {
    const venue = await startVenue({ until: onTestFinished });
    const text = "1s market BTCUSD reduceOnly\n3s market BTCUSD resume\n5s end";
    const bids: (number | null)[] = [];
    await venue.play(parseScenario(text, "resumed"), {
      each: async () => bids.push((await venue.client().ticker("BTCUSD")).bid),
    });
    const bid = expect.any(Number);
    expect(bids).toEqual([null, null, null, bid, bid]);
  });

  test("a venue that starts again a second before the hour: has its index by then, and its funding", async () => {
    const venue = await startVenue({
      start: new Date("2026-01-01T00:59:50Z"),
      until: onTestFinished,
    });
    const trader = await venue.trader();
    const order = { symbol: "BTCUSD", side: "long", type: "market", margin: 500 } as const;
    await trader.placeOrder({ ...order, leverage: 5 });
    const text = "0s liquidity BTCUSD premium=0.004\n8600ms restart-venue\n11s end";
    await venue.play(parseScenario(text, "hour"));
    expect(await trader.fundingPayments()).toHaveLength(1);
  });

  test("saved while it plays: goes on from there", async () => {
    const venue = await startVenue({ until: onTestFinished });
    const scenario = parseScenario("2s price BTCUSD 60000\n4s end", "mine");
    let saved: SavedVenue | undefined;
    await venue.play(scenario, {
      each: async () => {
        saved ??= await venue.save();
      },
    });
    if (saved === undefined) throw new Error("nothing was saved");
    await venue.restore(saved);
    const index = async () => (await venue.client().ticker("BTCUSD")).index;
    expect(await index()).toBe(65_000);
    await venue.advance("3s");
    expect(await index()).toBe(60_000);
  });
});

/** How a long at 40× ends in each; undefined: it is still there. */
const ENDS: Readonly<Record<string, string | undefined>> = {
  "quiet-hour": undefined,
  "flash-crash": "liquidation",
  "gap-through-stops": "backstop",
  "funding-squeeze": undefined,
  "thin-book": undefined,
  "stuck-index": "liquidation",
  "jumping-index": undefined,
  "halt-and-resume": "backstop",
  "gateway-restarts": "liquidation",
  "rate-limits": undefined,
  "slow-network": "liquidation",
  "my-liquidation": "liquidation",
  "my-deleveraging": "adl",
  "whole-open-interest": "adl",
  "old-prices": "liquidation",
  "pulled-wall": "liquidation",
  "pushed-mark": undefined,
  "restored-funding": undefined,
  "endless-backstop": "adl",
  "winners-deleveraged": "adl",
  "operator-burst": undefined,
};
/** Of hours: `npm run test:system` plays them. */
const LONG = new Set(["quiet-hour", "funding-squeeze", "restored-funding"]);

test("docs/scenarios.md has every action as it is written, and every scenario", () => {
  const page = readFileSync(new URL("../../../../docs/scenarios.md", import.meta.url), "utf8");
  for (const { usage, does } of Object.values(ACTIONS)) {
    expect(page).toContain(`| \`${usage.replaceAll("|", "\\|")}\` | ${does} |`);
  }
  for (const name of scenarioNames()) {
    expect(page).toContain(`| \`${name}\` | ${namedScenario(name).about} |`);
  }
});

test("each incident of docs/incidents.md is a scenario", () => {
  const page = readFileSync(new URL("../../../../docs/incidents.md", import.meta.url), "utf8");
  const incidents = [...page.matchAll(/^\| \[([^:]*): /gm)].map(([, incident = ""]) => incident);
  expect(incidents.length).toBeGreaterThan(7);
  const abouts = scenarioNames().map((name) => namedScenario(name).about);
  for (const incident of new Set(incidents)) {
    const played = abouts.filter((about) => about.startsWith(`${incident}: `));
    const wanted = incidents.filter((one) => one === incident);
    expect([incident, played.length]).toEqual([incident, wanted.length]);
  }
});

test("the sandbox's own scenarios are those of the table below", () => {
  expect(scenarioNames()).toEqual(Object.keys(ENDS));
});

test.each(Object.entries(ENDS).filter(([name]) => !LONG.has(name)))(
  "%s: a long at 40× ends by %s",
  async (name, end) => {
    const venue = await startVenue({ until: onTestFinished });
    const trader = await venue.trader({ funds: 20_000 });
    const order = { symbol: "BTCUSD", side: "long", type: "market", leverage: 40 } as const;
    await trader.placeOrder({ ...order, margin: 1_000 });
    await venue.play(name, { every: "30s" });
    const kinds = (await trader.fills()).map(({ kind }) => kind);
    if (end === undefined) expect(kinds).toEqual(["order"]);
    else expect(kinds).toContain(end);
  },
);
