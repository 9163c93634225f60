import type { RequestListener } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { serve } from "@perpgate/protocol/testing/serve";
import { describe, expect, onTestFinished, test } from "vitest";
import { DEFAULT_HTTP_SOURCE, HttpIndexSource, type HttpSourceSettings } from "./http-source.js";
import type { FeedProblem } from "./price-feed.js";

const LATE = { timeout: 120_000, message: "too late" };
const MARKETS = [
  { symbol: "BTCUSD", tickSize: 0.1 },
  { symbol: "ETHUSD", tickSize: 0.01 },
];

interface Feed {
  readonly url: string;
  /** How many requests came. */
  asked: number;
  answer: RequestListener;
}

/** A web feed on a free port whose answer can be changed. */
async function serveFeed(answer: RequestListener): Promise<Feed> {
  const url = await serve((request, reply) => {
    feed.asked++;
    feed.answer(request, reply);
  });
  const feed: Feed = { url: `${url}/`, asked: 0, answer };
  return feed;
}

const json =
  (body: unknown): RequestListener =>
  (_request, reply) => {
    reply.setHeader("content-type", "application/json").end(JSON.stringify(body));
  };
const text =
  (body: string): RequestListener =>
  (_request, reply) => {
    reply.end(body);
  };
const price = (btc: unknown) => json({ btc });

function sourceOf(feeds: readonly Feed[], changes: Partial<HttpSourceSettings> = {}) {
  const problems: FeedProblem[] = [];
  const time = { nowMs: 1_700_000_000_000, wallBehindMs: 0 };
  const settings: HttpSourceSettings = {
    ...DEFAULT_HTTP_SOURCE,
    // A feed that answers does so within this on a busy machine too; tests of silence have their own.
    timeoutMs: 20_000,
    feeds: feeds.map(({ url }, i) => ({
      name: `feed-${i}`,
      markets: { BTCUSD: { url, price: "/btc" } },
    })),
    ...changes,
  };
  const source = new HttpIndexSource(
    MARKETS,
    settings,
    { now: () => time.nowMs, wall: () => time.nowMs - time.wallBehindMs },
    (problem) => problems.push(problem),
  );
  onTestFinished(() => source.stop());
  const ticks = () => source.observe(time.nowMs).map(({ priceTicks }) => priceTicks);
  return { source, problems, time, ticks };
}

describe("the median of feeds", () => {
  test("three that agree: the middle one, in ticks, with the time of the round", async () => {
    const feeds = [
      await serveFeed(price(65_000.1)),
      await serveFeed(price("65010.04")),
      await serveFeed(price(65_020)),
    ];
    const { source, time, problems } = sourceOf(feeds);
    expect(source.observe(time.nowMs)).toEqual([]);
    await source.refresh();
    expect(source.observe(time.nowMs)).toEqual([
      { symbol: "BTCUSD", priceTicks: 650_100, observedAtMs: time.nowMs },
    ]);
    expect(problems).toEqual([]);
  });

  test("an even number: the mean of the two in the middle", async () => {
    const feeds = [await serveFeed(price(65_000)), await serveFeed(price(65_001))];
    const { source, ticks } = sourceOf(feeds);
    await source.refresh();
    expect(ticks()).toEqual([650_005]);
  });

  test("one address for several markets: asked once a round, markets in listing order", async () => {
    const feed = await serveFeed(json({ data: [{ p: "3200.01" }, { p: 65_000 }] }));
    const markets = {
      ETHUSD: { url: feed.url, price: "/data/0/p" },
      BTCUSD: { url: feed.url, price: "/data/1/p" },
    };
    const { source, time } = sourceOf([], { quorum: 1, feeds: [{ name: "a", markets }] });
    await source.refresh();
    expect(feed.asked).toBe(1);
    expect(source.observe(time.nowMs)).toMatchObject([
      { symbol: "BTCUSD", priceTicks: 650_000 },
      { symbol: "ETHUSD", priceTicks: 320_001 },
    ]);
  });

  test("a time in the answer: milliseconds, seconds or RFC 3339, never ahead of the clock", async () => {
    const at = 1_699_999_998_000;
    for (const [time, observedAtMs] of [
      [at, at],
      [at / 1_000, at],
      [new Date(at).toISOString(), at],
      [1_900_000_000_000, 1_700_000_000_000],
    ]) {
      const feed = await serveFeed(json({ btc: 65_000, at: time }));
      const markets = { BTCUSD: { url: feed.url, price: "/btc", time: "/at" } };
      const { source, time: now } = sourceOf([], { quorum: 1, feeds: [{ name: "a", markets }] });
      await source.refresh();
      expect(source.observe(now.nowMs)).toMatchObject([{ observedAtMs }]);
    }
  });
});

describe("the machine's clock is set back by an hour", () => {
  test("a feed with times of its own: as old as they say, and stamped by the other clock", async () => {
    const feed = await serveFeed(json({ btc: 65_000, at: 0 }));
    const markets = { BTCUSD: { url: feed.url, price: "/btc", time: "/at" } };
    const { source, time } = sourceOf([], { quorum: 1, feeds: [{ name: "a", markets }] });
    // The machine was ahead of the feed by an hour: too old to count.
    const truth = () => time.nowMs - 3_600_000;
    feed.answer = json({ btc: 65_000, at: truth() });
    await source.refresh();
    expect(source.observe(time.nowMs)).toEqual([]);
    // It is put right, and the venue's time goes on from where it was.
    time.wallBehindMs = 3_600_000;
    for (const price of [65_001, 65_002]) {
      time.nowMs += 1_000;
      feed.answer = json({ btc: price, at: truth() - 300 });
      await source.refresh();
      expect(source.observe(time.nowMs)).toEqual([
        { symbol: "BTCUSD", priceTicks: price * 10, observedAtMs: time.nowMs - 300 },
      ]);
    }
  });

  test("a feed that repeats its time: grows older all the same", async () => {
    const feed = await serveFeed(json({ btc: 65_000, at: 1_700_000_000_000 }));
    const markets = { BTCUSD: { url: feed.url, price: "/btc", time: "/at" } };
    const { source, time } = sourceOf([], { quorum: 1, feeds: [{ name: "a", markets }] });
    await source.refresh();
    const before = source.observe(time.nowMs);
    expect(before).toMatchObject([{ observedAtMs: time.nowMs }]);
    time.wallBehindMs = 3_600_000;
    for (let second = 1; second <= 3; second++) {
      time.nowMs += 1_000;
      await source.refresh();
      expect(source.observe(time.nowMs)).toEqual(before);
    }
  });
});

describe("feeds that fail", () => {
  test("one liar among three: left out, whatever it says", async () => {
    const liar = await serveFeed(price(1));
    const feeds = [await serveFeed(price(65_000)), liar, await serveFeed(price(65_002))];
    const { source, ticks } = sourceOf(feeds);
    for (const lie of [1, 1e12, 63_000, 67_000, 0.0001]) {
      liar.answer = price(lie);
      await source.refresh();
      expect(ticks(), `the lie ${lie}`).toEqual([650_010]);
    }
  });

  test("two that disagree: no index at all", async () => {
    const feeds = [await serveFeed(price(65_000)), await serveFeed(price(70_000))];
    const { source, ticks } = sourceOf(feeds);
    await source.refresh();
    expect(ticks()).toEqual([]);
  });

  test.each<[string, RequestListener, RegExp]>([
    ["another status", (_q, r) => void r.writeHead(500).end("{}"), /answered 500/],
    ["not JSON", text("<html>"), /JSON/],
    ["an empty answer", text(""), /JSON/],
    ["no such value", json({ eth: 1 }), /\/btc is not a price: nothing/],
    ["null", price(null), /not a price: null/],
    ["zero", price(0), /not a price: 0/],
    ["a negative price", price(-5), /not a price: -5/],
    ["words", price("lots"), /not a price/],
    ["hex in text", price("0xffff"), /not a price/],
    ["an exponent in text", price("1e5"), /not a price/],
    ["infinity", text('{"btc": 1e999}'), /not a price/],
    ["an array", price([65_000]), /not a price/],
    ["more than a mebibyte", text(`{"btc": 65000}${" ".repeat(1_100_000)}`), /more than/],
    ["a connection cut short", (_q, r) => void r.socket?.destroy(), /fetch failed/],
    ["a redirect in circles", (_q, r) => void r.writeHead(302, { location: "/" }).end(), /fetch/],
  ])("%s: reported, and the others carry on", async (_, answer, reason) => {
    const broken = await serveFeed(answer);
    const feeds = [broken, await serveFeed(price(65_000)), await serveFeed(price(65_000))];
    const { source, ticks, problems } = sourceOf(feeds);
    await source.refresh();
    expect(ticks()).toEqual([650_000]);
    expect(problems).toEqual([
      { feed: "feed-0", url: broken.url, problem: expect.stringMatching(reason) },
    ]);
  });

  test.each([
    ["without a zone", "2026-10-03 12:00:00"],
    ["a digit in text", "7"],
    ["a date alone", "2026-10-03"],
  ])("a time that is %s: reported, and the price does not count", async (_, at) => {
    const feed = await serveFeed(json({ btc: 65_000, at }));
    const markets = { BTCUSD: { url: feed.url, price: "/btc", time: "/at" } };
    const { source, ticks, problems } = sourceOf([], {
      quorum: 1,
      feeds: [{ name: "a", markets }],
    });
    await source.refresh();
    expect(ticks()).toEqual([]);
    expect(problems).toEqual([
      { feed: "a", url: feed.url, problem: `/at is not a time: ${JSON.stringify(at)}` },
    ]);
  });

  test("a feed that never answers: given up on at the time-out", async () => {
    const silent = await serveFeed(() => {});
    const dripping = await serveFeed((_request, reply) => {
      reply.write("{");
    });
    const feeds = [silent, dripping, await serveFeed(price(1_000)), await serveFeed(price(1_000))];
    const { source, ticks, problems } = sourceOf(feeds, { timeoutMs: 1_500 });
    await source.refresh();
    expect(ticks()).toEqual([10_000]);
    expect(problems.map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/timeout/),
      expect.stringMatching(/timeout/),
    ]);
  });

  test("a feed that hangs: the others, and its other URLs, are asked at every interval", async () => {
    const hanging = await serveFeed(() => {});
    const feeds = [await serveFeed(price(65_000)), await serveFeed(price(65_000))];
    const [first, second] = feeds.map(({ url }) => url);
    const { source, time } = sourceOf([], {
      feeds: [
        {
          name: "half",
          markets: {
            ETHUSD: { url: hanging.url, price: "/eth" },
            BTCUSD: { url: first ?? "", price: "/btc" },
          },
        },
        { name: "whole", markets: { BTCUSD: { url: second ?? "", price: "/btc" } } },
      ],
    });
    for (const btc of [65_000, 65_001, 65_002]) {
      time.nowMs += 1_000;
      for (const feed of feeds) feed.answer = price(btc);
      void source.refresh();
      const index = { symbol: "BTCUSD", priceTicks: btc * 10, observedAtMs: time.nowMs };
      await expect.poll(() => source.observe(time.nowMs), LATE).toEqual([index]);
    }
    expect([...feeds, hanging].map(({ asked }) => asked)).toEqual([3, 3, 1]);
  });

  test("a feed that drips while garbage is collected: given up on all the same", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    const dripping = await serveFeed((_request, reply) => {
      reply.write("{");
      for (const afterMs of [20, 60, 120]) setTimeout(collectGarbage, afterMs);
    });
    const { source, problems } = sourceOf([dripping], { timeoutMs: 300 });
    await source.refresh();
    expect(problems).toEqual([
      expect.objectContaining({ problem: expect.stringMatching(/timeout/) }),
    ]);
  });

  test("all down: the last index stays with its time, so that it grows stale", async () => {
    const feeds = [await serveFeed(price(65_000)), await serveFeed(price(65_000))];
    const { source, time } = sourceOf(feeds);
    await source.refresh();
    const [before] = source.observe(time.nowMs);
    for (const feed of feeds) feed.answer = (_request, reply) => void reply.socket?.destroy();
    time.nowMs += 60_000;
    await source.refresh();
    expect(source.observe(time.nowMs)).toEqual([before]);
  });

  test("one of three is gone: each round still gives a newer index, for as long as a quorum moves", async () => {
    const dead = await serveFeed(price(65_000));
    const moving = [await serveFeed(price(65_000)), await serveFeed(price(65_000))];
    const { source, time } = sourceOf([dead, ...moving]);
    await source.refresh();
    dead.answer = (_request, reply) => void reply.socket?.destroy();
    const expected = [{ symbol: "BTCUSD", priceTicks: 650_000, observedAtMs: time.nowMs }];
    expect(source.observe(time.nowMs)).toEqual(expected);
    // The dead feed's last price counts for ten seconds, and then no longer; neither holds up the rest.
    for (let second = 1; second <= 12; second++) {
      time.nowMs += 1_000;
      for (const feed of moving) feed.answer = price(65_000 + second);
      await source.refresh();
      expect(source.observe(time.nowMs), `after ${second} s`).toEqual([
        { symbol: "BTCUSD", priceTicks: 650_000 + 10 * second, observedAtMs: time.nowMs },
      ]);
    }
  });

  test("two of three are gone: the one that moves makes no index newer", async () => {
    const moving = await serveFeed(price(65_000));
    const dead = [await serveFeed(price(65_000)), await serveFeed(price(65_000))];
    const { source, time } = sourceOf([moving, ...dead]);
    await source.refresh();
    const lastAtMs = time.nowMs;
    for (const feed of dead) feed.answer = (_request, reply) => void reply.socket?.destroy();
    for (let second = 1; second <= 12; second++) {
      time.nowMs += 1_000;
      moving.answer = price(65_000 + second);
      await source.refresh();
      expect(source.observe(time.nowMs), `after ${second} s`).toMatchObject([
        { observedAtMs: lastAtMs },
      ]);
    }
  });

  test("below the quorum: a feed alone is not believed", async () => {
    const feeds = [await serveFeed(price(65_000)), await serveFeed(price(65_000))];
    const { source, time, ticks } = sourceOf(feeds);
    await source.refresh();
    expect(ticks()).toEqual([650_000]);
    feeds[0]!.answer = price(66_000);
    feeds[1]!.answer = (_request, reply) => void reply.socket?.destroy();
    time.nowMs += 10_001;
    await source.refresh();
    expect(ticks()).toEqual([650_000]);
  });
});

describe("absurd indexes", () => {
  test("less than half a tick, more than ticks can count: no index", async () => {
    for (const value of [0.01, 1e16]) {
      const feeds = [await serveFeed(price(value)), await serveFeed(price(value))];
      const { source, ticks } = sourceOf(feeds);
      await source.refresh();
      expect(ticks()).toEqual([]);
    }
  });
});

describe("running", () => {
  test("start: the first prices are there when it resolves; stop: aborts the requests in flight", async () => {
    const feeds = [await serveFeed(price(65_000)), await serveFeed(price(65_000))];
    const { source, ticks, problems } = sourceOf(feeds, { intervalMs: 10_000, timeoutMs: 60_000 });
    await source.start();
    expect(ticks()).toEqual([650_000]);
    feeds[0]!.answer = () => {};
    const round = source.refresh();
    await source.stop();
    await round;
    expect(problems).toEqual([]);
  });

  test("refresh: a second call joins the requests in flight", async () => {
    const feed = await serveFeed(price(1));
    const { source } = sourceOf([feed]);
    await Promise.all([source.refresh(), source.refresh()]);
    expect(feed.asked).toBe(1);
    await source.refresh();
    expect(feed.asked).toBe(2);
  });
});
