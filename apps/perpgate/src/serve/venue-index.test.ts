import { INDEX_STALE_MS } from "@perpgate/protocol/core";
import { serve } from "@perpgate/protocol/testing/serve";
import { type FirstOfEpoch, NO_EVIDENCE, type Venue, venueConfigOf } from "@perpgate/venue";
import { TestVenue } from "@perpgate/venue/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { coarseMarket } from "../testing/coarse-market.js";
import { configurationFile, temporaryFolder } from "../testing/perpgate-process.js";
import { readConfiguration } from "./configuration.js";
import { configureVenue } from "./configure-control.js";
import { MarketControl } from "./market-control.js";
import { DEFAULT_SETTINGS, type Settings } from "./settings.js";
import { createVenueIndex } from "./venue-index.js";

test("the machine's clock is set back by an hour: prices go on, and age by the venue's time", async () => {
  const time = { wallMs: 1_800_000_000_000, monotonicMs: 0 };
  const pass = (ms: number) => {
    time.wallMs += ms;
    time.monotonicMs += ms;
  };
  const wall = () => time.wallMs;
  const { venue } = await TestVenue.open(temporaryFolder(), {
    clock: wall,
    monotonic: () => time.monotonicMs,
  });
  onTestFinished(() => venue.close());
  const markets = DEFAULT_SETTINGS.markets.slice(0, 2);
  const failures: unknown[] = [];
  const { feed } = createVenueIndex({ ...DEFAULT_SETTINGS, markets }, venue, wall, {
    onProblem: (problem) => failures.push(problem),
    onFailure: (error) => failures.push(error),
    onReplaced: fail,
    onOtherTick: fail,
  });
  await feed.refresh();
  expect(feed.notReadyReason()).toBeUndefined();

  time.wallMs -= 3_600_000;
  for (let round = 0; round < 3; round++) {
    const { seq: position } = venue;
    pass(250);
    await feed.refresh();
    expect(venue.seq, `round ${round}`).toBe(position + markets.length);
  }
  pass(INDEX_STALE_MS);
  expect(feed.notReadyReason()).toBeUndefined();
  pass(1);
  expect(feed.notReadyReason()).toContain("older than");
  await feed.refresh();
  expect(feed.notReadyReason()).toBeUndefined();
  expect(failures).toEqual([]);
});

test("a market that is listed later: not ready without its index, and fed once it is added", async () => {
  const nowMs = 1_800_000_000_000;
  const { markets } = DEFAULT_SETTINGS;
  const before = { ...DEFAULT_SETTINGS, markets: markets.slice(0, 2) };
  const { venue } = await TestVenue.open(temporaryFolder(), {
    clock: () => nowMs,
    config: venueConfigOf(before.markets),
    listing: before.markets,
  });
  onTestFinished(() => venue.close());
  const failures: unknown[] = [];
  const replaced: unknown[] = [];
  const { feed, addMarkets } = createVenueIndex(before, venue, () => nowMs, {
    onProblem: (problem) => failures.push(problem),
    onFailure: (error) => failures.push(error),
    onReplaced: (...source) => replaced.push(source),
    onOtherTick: fail,
  });
  await feed.refresh();
  expect(feed.notReadyReason()).toBeUndefined();
  await venue.configure({ config: venueConfigOf(markets), attestors: null, listing: markets });
  await feed.refresh();
  expect(venue.views.market("SOLUSD")).toMatchObject({ indexPrice: null });
  expect(feed.notReadyReason()).toBe("no index price for SOLUSD yet");
  await addMarkets(DEFAULT_SETTINGS);
  expect(replaced).toEqual([["simulated", ["BTCUSD", "ETHUSD", "SOLUSD"]]]);
  expect(venue.views.market("SOLUSD")).toMatchObject({ indexPrice: expect.any(Number) });
  expect(feed.notReadyReason()).toBeUndefined();
  expect(failures).toEqual([]);
});

test("a market that another gateway lists with another tick: not fed, one warning, until the file fits", async () => {
  const time = { nowMs: 1_800_000_000_000 };
  const { markets } = DEFAULT_SETTINGS;
  const before = markets.slice(0, 2);
  const { venue } = await TestVenue.open(temporaryFolder(), {
    clock: () => time.nowMs,
    monotonic: () => time.nowMs,
    config: venueConfigOf(before),
    listing: before,
  });
  onTestFinished(() => venue.close());
  const { tickSize } = markets[2]!;
  const coarse = { ...markets[2]!, tickSize: 10 * tickSize };
  const settings = { ...DEFAULT_SETTINGS, markets: [...before, coarse] };
  const warnings: unknown[] = [];
  const { feed, addMarkets } = createVenueIndex(settings, venue, () => time.nowMs, {
    onProblem: fail,
    onFailure: fail,
    onReplaced: () => undefined,
    onOtherTick: (...warning) => warnings.push(warning),
  });
  await feed.refresh();
  expect(warnings).toEqual([]);
  await venue.configure({ config: venueConfigOf(markets), attestors: null, listing: markets });
  for (let passedMs = 0; passedMs <= INDEX_STALE_MS; passedMs += 1_000) {
    time.nowMs += 1_000;
    const tick = { kind: "Tick", slot: Math.floor(time.nowMs / 200) } as const;
    await venue.submitted(tick, NO_EVIDENCE, () => undefined);
    await feed.refresh();
    expect(venue.views.market("SOLUSD")).toMatchObject({ indexPrice: null });
    expect(warnings).toEqual([["SOLUSD", 10 * tickSize, tickSize]]);
  }
  expect(feed.notReadyReason()).toContain("the index of SOLUSD is older than");
  await addMarkets(DEFAULT_SETTINGS);
  expect(venue.views.market("SOLUSD")).toMatchObject({ indexPrice: expect.any(Number) });
  expect(feed.notReadyReason()).toBeUndefined();
});

test("a market that another gateway feeds is halted: this one stays ready until it is resumed", async () => {
  const time = { nowMs: 1_800_000_000_000 };
  const { markets } = DEFAULT_SETTINGS;
  const { venue } = await TestVenue.open(temporaryFolder(), {
    clock: () => time.nowMs,
    monotonic: () => time.nowMs,
    config: venueConfigOf(markets),
    listing: markets,
  });
  onTestFinished(() => venue.close());
  const settings = { ...DEFAULT_SETTINGS, markets: markets.slice(0, 2) };
  const { feed } = createVenueIndex(settings, venue, () => time.nowMs, {
    onProblem: fail,
    onFailure: fail,
    onReplaced: fail,
    onOtherTick: fail,
  });
  const slot = Math.floor(time.nowMs / 200);
  const index = { market: 2, indexTicks: 15_000, slot } as const;
  await venue.submitted(
    { kind: "UpdateIndex", stampMs: time.nowMs, ...index },
    NO_EVIDENCE,
    () => undefined,
  );
  await feed.refresh();
  expect(feed.notReadyReason()).toBeUndefined();
  const control = new MarketControl(venue);
  await control.change({ symbol: "SOLUSD", action: "halt" });
  time.nowMs += INDEX_STALE_MS + 200;
  await feed.refresh();
  expect(feed.notReadyReason()).toBeUndefined();
  await control.change({ symbol: "SOLUSD", action: "resume" });
  expect(feed.notReadyReason()).toBe("no index price for SOLUSD yet");
});

test("a fed market is halted or settled, and its feed ends: ready; not while it is resumed", async () => {
  const time = { nowMs: 1_800_000_000_000 };
  const markets = DEFAULT_SETTINGS.markets.slice(0, 1);
  const { venue } = await TestVenue.open(temporaryFolder(), {
    clock: () => time.nowMs,
    monotonic: () => time.nowMs,
    config: venueConfigOf(markets),
    listing: markets,
  });
  onTestFinished(() => venue.close());
  const { feed } = createVenueIndex({ ...DEFAULT_SETTINGS, markets }, venue, () => time.nowMs, {
    onProblem: fail,
    onFailure: fail,
    onReplaced: fail,
    onOtherTick: fail,
  });
  await feed.refresh();
  const control = new MarketControl(venue);
  await control.change({ symbol: "BTCUSD", action: "halt" });
  // Without another refresh there are no further prices.
  time.nowMs += INDEX_STALE_MS + 200;
  expect(feed.notReadyReason()).toBeUndefined();
  await control.change({ symbol: "BTCUSD", action: "resume" });
  expect(feed.notReadyReason()).toContain("the index of BTCUSD is older than");
  await control.change({ symbol: "BTCUSD", action: "settle", price: 65_000 });
  expect(venue.views.market("BTCUSD")?.status).toBe("settled");
  expect(feed.notReadyReason()).toBeUndefined();
});

test("configure with another index source than the running one: refused, and nothing is appended", async () => {
  const { venue } = await TestVenue.open(temporaryFolder(), {
    config: venueConfigOf(DEFAULT_SETTINGS.markets),
    listing: DEFAULT_SETTINGS.markets,
  });
  onTestFinished(() => venue.close());
  const place = { url: "http://127.0.0.1:9/", price: "/price" };
  const markets = { BTCUSD: place, ETHUSD: place, SOLUSD: place };
  const feeds = [
    { name: "first", markets },
    { name: "second", markets },
  ];
  const running = readConfiguration(
    { config: configurationFile({ index: { source: "http", feeds } }) },
    {},
  );
  const index = createVenueIndex(running, venue, () => 0, {
    onProblem: fail,
    onFailure: fail,
    onReplaced: fail,
    onOtherTick: fail,
  });
  const withoutIndex = configurationFile({
    markets: [...DEFAULT_SETTINGS.markets, coarseMarket("AAA")],
  });
  const { seq } = venue;
  const atStart = { bridge: { kind: "dev" }, attestorKey: undefined } as const;
  await expect(configureVenue(venue, index, withoutIndex, atStart)).rejects.toThrow(
    '"index.source" of the file is "simulated", that of the running gateway is "http"; ' +
      "only a restart changes it",
  );
  expect(venue.seq).toBe(seq);
  expect(index.source.name).toBe("http");
});

test.each([
  ["without gusts", 0, 0],
  ["during a gust of both", 4, 280_000],
])(
  "another core led, %s: every market goes on from its price in the log",
  async (_, gustsPerHour, followsForMs) => {
    let nowMs = 1_800_000_000_000;
    const startMs = nowMs;
    const { venue } = await TestVenue.open(temporaryFolder(), {
      clock: () => nowMs,
      monotonic: () => nowMs - startMs,
    });
    onTestFinished(() => venue.close());
    let isLeading = false;
    let firstOfEpoch: () => FirstOfEpoch = () => [];
    const core: Venue = Object.create(venue, {
      isLeading: { get: () => isLeading },
      firstOfEpoch: {
        set: (commands: typeof firstOfEpoch) => {
          firstOfEpoch = commands;
        },
      },
    });
    const markets = DEFAULT_SETTINGS.markets.slice(0, 2);
    const index = { ...DEFAULT_SETTINGS.index, gustsPerHour };
    const settings = { ...DEFAULT_SETTINGS, markets, index };
    const failures: unknown[] = [];
    const { feed } = createVenueIndex(settings, core, () => nowMs, {
      onProblem: (problem) => failures.push(problem),
      onFailure: (error) => failures.push(error),
      onReplaced: fail,
      onOtherTick: fail,
    });
    const tick = () => {
      const command = { kind: "Tick", slot: Math.floor(nowMs / 200) } as const;
      return venue.submitted(command, NO_EVIDENCE, () => undefined);
    };
    const logged = [700_000, 300_000];
    const pricesOfTheOther = async () => {
      await tick();
      for (const [market, indexTicks] of logged.entries()) {
        const slot = Math.floor(nowMs / 200);
        const command = { kind: "UpdateIndex", stampMs: nowMs, market, indexTicks, slot } as const;
        await venue.submitted(command, NO_EVIDENCE, () => undefined);
      }
    };
    const expectLogged = (): void => {
      const shown = venue.views.markets().map(({ indexPrice, tickSize }) => indexPrice! / tickSize);
      for (const [market, ticks] of logged.entries()) {
        expect(Math.abs(shown[market]! / ticks - 1), `market ${market}`).toBeLessThan(5e-4);
      }
    };
    for (let passedMs = 0; passedMs <= followsForMs; passedMs += 1_000) {
      await pricesOfTheOther();
      const { seq } = venue;
      await feed.refresh();
      expect(venue.seq).toBe(seq);
      nowMs += 1_000;
    }

    isLeading = true;
    await tick();
    const first = await firstOfEpoch();
    expect(first).toHaveLength(logged.length);
    for (const command of first) await venue.submitted(command, NO_EVIDENCE, () => undefined);
    expectLogged();
    nowMs += 250;
    await tick();
    const { seq } = venue;
    await feed.refresh();
    expect(venue.seq).toBe(seq + logged.length);
    expectLogged();
    expect(failures).toEqual([]);
  },
);

test("a core that stands by proposes no price, however long the log has had none", async () => {
  let nowMs = 1_800_000_000_000;
  const { venue } = await TestVenue.open(temporaryFolder(), {
    clock: () => nowMs,
    monotonic: () => nowMs,
  });
  onTestFinished(() => venue.close());
  const markets = DEFAULT_SETTINGS.markets.slice(0, 2);
  const standby: Venue = Object.create(venue, { isLeading: { get: () => false } });
  const { feed } = createVenueIndex({ ...DEFAULT_SETTINGS, markets }, standby, () => nowMs, {
    onProblem: fail,
    onFailure: fail,
    onReplaced: fail,
    onOtherTick: fail,
  });
  const { seq } = venue;
  for (let second = 0; second < 20; second++) {
    await feed.refresh();
    nowMs += 1_000;
  }
  expect(venue.seq).toBe(seq);
});

/** This core leads from the call of the result on, which returns what it writes first. */
function beginningOf(venue: Venue, settings: Settings, nowMs: () => number) {
  let begin: () => FirstOfEpoch = () => [];
  const set = (commands: typeof begin) => {
    begin = commands;
  };
  const { source } = createVenueIndex(
    settings,
    Object.create(venue, { firstOfEpoch: { set } }),
    nowMs,
    { onProblem: fail, onFailure: fail, onReplaced: fail, onOtherTick: fail },
  );
  onTestFinished(() => source.stop?.());
  return { source, begin: () => begin() };
}

describe("a core that begins to lead, with feeds that it polls once a minute", () => {
  const CLAIM_MS = 1_800_000_060_000;

  async function begun(...urls: readonly string[]) {
    const time = { nowMs: CLAIM_MS - 60_000 };
    const { venue } = await TestVenue.open(temporaryFolder(), {
      clock: () => time.nowMs,
      monotonic: () => time.nowMs,
    });
    onTestFinished(() => venue.close());
    const feeds = urls.map((url, at) => ({
      name: `feed-${at + 1}`,
      markets: { BTCUSD: { url, price: "/price" } },
    }));
    const markets = DEFAULT_SETTINGS.markets.slice(0, 1);
    const index = { source: "http", feeds, quorum: 1, pollMs: 60_000 };
    const config = configurationFile({ markets, index });
    const settings = readConfiguration({ config }, {});
    const { source, begin } = beginningOf(venue, settings, () => time.nowMs);
    await source.start?.();
    time.nowMs = CLAIM_MS;
    const tick = { kind: "Tick", slot: CLAIM_MS / 200 } as const;
    await venue.submitted({ kind: "AskTime", stampMs: CLAIM_MS }, NO_EVIDENCE, () => undefined);
    await venue.submitted(tick, NO_EVIDENCE, () => undefined);
    return begin;
  }

  const answering = (price: () => number) =>
    serve((_request, reply) => void reply.end(JSON.stringify({ price: price() })));

  test("asks at once: its first price is from after the claim", async () => {
    let price = 65_000;
    const begin = await begun(await answering(() => price));
    price = 66_000;
    expect(await begin()).toMatchObject([
      { kind: "UpdateIndex", indexTicks: 660_000, slot: CLAIM_MS / 200 },
    ]);
  });

  test("does not wait for a feed that hangs while the others are enough", async () => {
    let isHanging = false;
    const hanging = await serve((_request, reply) => {
      if (!isHanging) reply.end(JSON.stringify({ price: 65_000 }));
    });
    const begin = await begun(await answering(() => 65_000), hanging);
    isHanging = true;
    expect(await begin()).toMatchObject([{ slot: CLAIM_MS / 200 }]);
  });

  test("goes on without a price if no feed answers in time", async () => {
    let isHanging = false;
    const begin = await begun(
      await serve((_request, reply) => {
        if (!isHanging) reply.end(JSON.stringify({ price: 65_000 }));
      }),
    );
    isHanging = true;
    expect(await begin()).toEqual([]);
  });
});

function fail(problem: unknown): never {
  throw new Error(JSON.stringify(problem));
}
