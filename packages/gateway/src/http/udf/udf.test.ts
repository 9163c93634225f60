import { afterAll, describe, expect, test } from "vitest";
import { ask, runGateway } from "../../testing/running-gateway.js";
import { runVenue, START_MS } from "../../venue/testing/running-venue.js";
import { Trader } from "../../venue/testing/trader.js";

const MINUTE = 60;
const START = START_MS / 1_000;

/** A request as the library's adapter sends it: the parameters in its order, encoded. */
async function feed(path: string, parameters: Record<string, string | number> = {}) {
  const pairs = Object.entries(parameters).map(([k, v]) => `${k}=${encodeURIComponent(v)}`);
  return ask(`${at.url}/udf/${path}${pairs.length === 0 ? "" : `?${pairs.join("&")}`}`);
}

async function bars(parameters: Record<string, string | number>) {
  const { status, text } = await feed("history", { symbol: "BTCUSD", ...parameters });
  expect(status).toBe(200);
  return JSON.parse(text);
}

/** One trade each: 12:00, 12:01, 12:07 and, on the next day, 01:00. */
const at = await runVenue({ server: { udf: true } }, afterAll);
const [maker, taker] = [await Trader.enter(at), await Trader.enter(at)];
for (const [price, waitMs] of [
  [65_000, 60_000],
  [65_010, 360_000],
  [64_990, 13 * 3_600_000 - 420_000],
  [65_020, 0],
] as const) {
  expect((await maker.place(maker.limit("short", price))).status).toBe(200);
  expect((await taker.place(taker.order())).status).toBe(200);
  await maker.send("/v1/orders/cancel-all", {});
  if (waitMs === 0) continue;
  at.skip(waitMs);
  await at.execute({ kind: "AskTime", stampMs: at.nowMs() });
  await at.setIndex("BTCUSD", 65_000);
}

describe("/udf", () => {
  test("config: search instead of groups, the resolutions that candles come in", async () => {
    const { status, body, headers } = await feed("config");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      supported_resolutions: ["1", "5", "15", "60", "240", "1D"],
      supports_search: true,
      supports_group_request: false,
      supports_marks: false,
      supports_timescale_marks: false,
      supports_time: true,
    });
    expect(headers.get("ratelimit-policy")).toContain('"reads"');
  });

  test("time: Unix seconds as plain text", async () => {
    const { text, headers } = await feed("time");
    expect(Number(text)).toBe(Math.floor(at.venue.nowMs() / 1_000));
    expect(headers.get("content-type")).toContain("text/plain");
  });

  test("symbols: by ticker or full name; an unknown one is an error with status 200", async () => {
    const { body } = await feed("symbols", { symbol: "BTCUSD" });
    expect(body).toMatchObject({
      name: "BTCUSD",
      ticker: "BTCUSD",
      type: "crypto",
      session: "24x7",
      timezone: "Etc/UTC",
      minmov: 1,
      pricescale: 10,
      has_intraday: true,
      intraday_multipliers: ["1", "5", "15", "60", "240"],
      volume_precision: 5,
    });
    expect((await feed("symbols", { symbol: "PERPGATE:BTCUSD" })).body).toEqual(body);
    const unknown = await feed("symbols", { symbol: "DOGEUSD", currencyCode: "EUR" });
    expect([unknown.status, unknown.body]).toEqual([200, { s: "error", errmsg: "unknown_symbol" }]);
    expect((await feed("symbol_info", { group: "PERPGATE" })).body).toMatchObject({
      symbol: ["BTCUSD", "ETHUSD", "SOLUSD"],
      pricescale: [10, 100, 1_000],
      "exchange-traded": "PERPGATE",
      "session-regular": "24x7",
    });
  });

  test("search: by part of the symbol, filtered and limited", async () => {
    const search = async (parameters: Record<string, string | number>): Promise<string[]> => {
      const { text } = await feed("search", { type: "", exchange: "", limit: 30, ...parameters });
      return JSON.parse(text).map(({ ticker }: { ticker: string }) => ticker);
    };
    expect(await search({ query: "btc" })).toEqual(["BTCUSD"]);
    expect(await search({ query: "" })).toEqual(["BTCUSD", "ETHUSD", "SOLUSD"]);
    expect(await search({ query: "PERPETUAL", limit: 2 })).toEqual(["BTCUSD", "ETHUSD"]);
    expect(await search({ query: "", exchange: "NYSE" })).toEqual([]);
    expect(await search({ query: "", type: "stock" })).toEqual([]);
  });

  test("history: from ≤ time < to, oldest first, in columns", async () => {
    const day = await bars({ resolution: "1", from: START, to: START + 8 * MINUTE });
    expect(day).toMatchObject({
      s: "ok",
      t: [START, START + MINUTE, START + 7 * MINUTE],
      o: [65_000, 65_010, 64_990],
      c: [65_000, 65_010, 64_990],
    });
    expect(day.v).toHaveLength(3);
    const part = await bars({ resolution: "1", from: START + 1, to: START + 7 * MINUTE });
    expect(part.t).toEqual([START + MINUTE]);
    const hours = await bars({ resolution: "60", from: START, to: START + 3_600 });
    expect(hours).toMatchObject({ t: [START], o: [65_000], h: [65_010], l: [64_990], c: [64_990] });
  });

  test("history: countback counts more than from", async () => {
    const to = START + 8 * MINUTE;
    const asked = { resolution: "1", from: to - MINUTE, to, countback: 2 };
    expect((await bars(asked)).t).toEqual([START + MINUTE, START + 7 * MINUTE]);
    expect((await bars({ ...asked, countback: 300 })).t).toHaveLength(3);
    const far = await bars({
      resolution: "1D",
      from: -86_400,
      to: to + 2 * 86_400,
      countback: 329,
    });
    const midnight = START - (START % 86_400);
    expect(far.t).toEqual([midnight, midnight + 86_400]);
    expect((await bars({ ...asked, resolution: "D" })).t).toEqual([midnight]);
  });

  test("history: a period without bars names the newest one before it, or says that none is", async () => {
    const empty = { resolution: "1", from: START + 8 * MINUTE, to: START + 3_600 };
    expect(await bars(empty)).toEqual({ s: "no_data", nextTime: START + 7 * MINUTE });
    expect(await bars({ resolution: "1", from: 0, to: START })).toEqual({ s: "no_data" });
    expect(await bars({ resolution: "1", from: 0, to: START, countback: 5 })).toEqual({
      s: "no_data",
    });
    expect(await bars({ symbol: "SOLUSD", resolution: "1", from: 0, to: START })).toEqual({
      s: "no_data",
    });
  });

  test("history: what is wrong is said, with status 200", async () => {
    for (const [parameters, errmsg] of [
      [{ symbol: "DOGEUSD", resolution: "1", from: 0, to: 1 }, /unknown_symbol/],
      [{ resolution: "30", from: 0, to: 1 }, /resolution/],
      [{ resolution: "1", from: "now", to: 1 }, /from and to/],
      [{ resolution: "1", from: 0 }, /from and to/],
      [{ resolution: "1", from: 0, to: 1, countback: "x" }, /countback/],
    ] as const) {
      expect(await bars(parameters)).toEqual({ s: "error", errmsg: expect.stringMatching(errmsg) });
    }
  });

  test("off unless it is turned on; without a venue 503", async () => {
    const { url } = await runGateway();
    expect((await ask(`${url}/udf/config`)).status).toBe(404);
    const alone = await runGateway({ udf: true });
    const query = "symbol=BTCUSD&resolution=1&from=0&to=1";
    expect((await ask(`${alone.url}/udf/history?${query}`)).status).toBe(503);
    expect((await ask(`${alone.url}/udf/config`)).status).toBe(200);
  });
});
