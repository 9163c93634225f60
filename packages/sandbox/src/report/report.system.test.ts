import { expect, onTestFinished, test } from "vitest";
import {
  parseReport,
  type RunReport,
  reportCsv,
  reportHtml,
  reportText,
  startVenue,
} from "../index.js";

const BUY = {
  symbol: "BTCUSD",
  side: "long",
  type: "market",
  margin: 1_000,
  leverage: 10,
} as const;

/** A long that gains, loses and is refused once, and a bid that rests for a minute. */
async function run({ seed = 1 } = {}): Promise<RunReport> {
  const venue = await startVenue({ seed, until: onTestFinished });
  const trader = await venue.trader({ funds: 10_000 });
  await trader.placeOrder(BUY);
  const bid = await trader.placeOrder({ ...BUY, type: "limit", price: 60_000 });
  await venue.price("BTCUSD", 66_000);
  await venue.advance("1m");
  await trader.cancelOrder(bid.orderId);
  await venue.price("BTCUSD", 65_500);
  await venue.fund(trader.address, 500);
  venue.faults.refuse("market_halted", { values: { symbol: "BTCUSD" } });
  await expect(trader.placeOrder(BUY)).rejects.toThrow();
  await venue.advance("1h");
  const report = await venue.report();
  const { equity } = await trader.account();
  expect(report.traders[0]?.pnl).toBeCloseTo(equity - 10_500, 2);
  const [fill] = await trader.fills();
  if (fill === undefined) throw new Error("no fill");
  expect(report.traders[0]?.fees).toBeCloseTo(fill.fee, 2);
  expect(report.traders[0]?.volume).toBeCloseTo(fill.price * fill.size, 2);
  return report;
}

test("a run: PnL without deposits, drawdown, fees, funding, slippage, time in book, exposure, refusals", async () => {
  const report = await run();
  const [trader] = report.traders;
  if (trader === undefined) throw new Error("no trader");
  expect(trader).toMatchObject({
    fills: 1,
    makerFills: 0,
    forcedFills: 0,
    orders: 2,
    ordersCanceled: 1,
  });
  expect(trader.meanMsInBook).toBe(60_400);
  expect(trader.maxDrawdown).toBeGreaterThan(60);
  expect(trader.maxDrawdown).toBeLessThan(100);
  expect(trader.funding).toBeLessThan(0);
  // Half the spread of 2 bps, and what the levels behind it cost.
  expect(trader.slippageToMarkBps).toBeGreaterThan(0.5);
  expect(trader.slippageToArrivalBps).toBeGreaterThan(0.5);
  expect(trader.slippageToArrivalBps).toBeLessThan(5);
  expect(trader.maxExposure).toBeGreaterThan(10_000);
  expect(trader.curve.length).toBeGreaterThan(3_000);
  expect(report.refusals).toEqual({ market_halted: 1 });
  expect(report.requests.find(({ operation }) => operation === "placeOrder")).toMatchObject({
    count: 3,
    refused: 1,
  });
});

test("the same seed: the same report but for the machine's times; saved moments have theirs", async () => {
  const timeless = ({ requests: _, ...rest }: RunReport) => rest;
  expect(timeless(await run())).toEqual(timeless(await run()));
  const venue = await startVenue({ until: onTestFinished });
  const trader = await venue.trader();
  await trader.placeOrder(BUY);
  await venue.advance("10s");
  const before = timeless(await venue.report());
  const saved = await venue.save();
  await venue.crash("BTCUSD", { by: 0.05 });
  await venue.restore(saved);
  expect(timeless(await venue.report())).toEqual(before);
});

test("text, CSV and a page: two runs side by side; the page has no script and loads nothing", async () => {
  const runs = [
    { name: "first", report: await run() },
    { name: "<second>", report: await run({ seed: 2 }) },
  ];
  const text = reportText(runs);
  expect(text).toMatch(/ first +<second>\n +PnL, dollars +-?[\d.]+ +-?[\d.]+\n/);
  expect(text).toMatch(/market_halted +1 +1\n$/);
  const rows = reportCsv(runs).trimEnd().split("\n");
  expect(rows[0]).toBe("run,trader,time_ms,measure,value");
  expect(rows).toContain("first,,,refused_market_halted,1");
  expect(rows.filter((row) => row.includes(",curve_pnl,")).length).toBeGreaterThan(6_000);
  const page = reportHtml(runs);
  expect(page).toContain("default-src 'none'");
  expect(page).not.toMatch(/<script|https?:|<second>/);
  expect(page.match(/<svg/g)).toHaveLength(3);
});

test("a page of many traders: is written", async () => {
  const report = await run();
  const traders = Array.from({ length: 60 }, () => report.traders).flat();
  expect(
    reportHtml([{ name: "many", report: { ...report, traders } }]).match(
      /<path d="M[\d.]+ [\d.]+L/g,
    ),
  ).toHaveLength(180);
});

test.each([
  ["{", "run: no JSON"],
  ["{}", 'run: no report of a run, which says "format": "perpgate-sandbox-run/1"'],
])("%s: %s", (text, problem) => {
  expect(() => parseReport(text, "run")).toThrow(problem);
});
