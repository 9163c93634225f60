/** The turnover of a market's last 24 hours, kept by its minute candles. */
import { expect, onTestFinished, test } from "vitest";
import { removeFolder, START_MS, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { CandleProjection } from "./candle-projection.js";
import { DayStats } from "./day-stats.js";
import { ProjectedReader, ProjectedWriter } from "./projected-state.js";
import type { RowSink } from "./rows.js";

/** Trades of 0.01538 BTC at 65,001 and at 64,999. */
async function twoTrades() {
  const folder = await temporaryFolder();
  onTestFinished(() => removeFolder(folder));
  const driver = await TestVenue.open(folder);
  await driver.index();
  const [maker, taker] = [await driver.signIn(1), await driver.signIn(2)];
  await driver.order(maker, 1, "short", 650_010);
  await driver.order(taker, 1, "long", 650_010);
  await driver.order(maker, 2, "long", 649_990);
  await driver.order(taker, 2, "short", 649_990);
  return { folder, driver };
}

const EXACT = (1_538 * 650_010 + 1_538 * 649_990) / 1e6;

test("turnover24h: the exact sum over all trades, also after a restart", async () => {
  const { folder, driver } = await twoTrades();
  const ticker = { volume24h: 0.03076, turnover24h: EXACT };
  expect(driver.venue.views.ticker("BTCUSD")).toMatchObject(ticker);
  expect(driver.venue.views.ticker("ETHUSD")).toMatchObject({ volume24h: 0, turnover24h: 0 });
  await driver.venue.close();
  const again = await TestVenue.open(folder);
  expect(again.venue.views.ticker("BTCUSD")).toMatchObject(ticker);
  await again.venue.close();
});

test("a turnover beyond the safe integers: the row stays readable, the day's sum is not known", () => {
  const rows: number[][] = [];
  const sink: Pick<RowSink, "overwrite"> = {
    overwrite: (_offset, _table, _group, _place, words) => rows.push(Array.from(words)),
  };
  const nothing = () => undefined;
  const projection = new CandleProjection({ put: nothing, putWords: nothing, ...sink });
  const day = new DayStats();
  for (let i = 0; i < 3; i++) {
    projection.onTrade(0, 2 ** 26, 2 ** 26, START_MS);
    day.onTrade(2 ** 26, 2 ** 26, START_MS);
  }
  expect(rows.flat().every(Number.isSafeInteger)).toBe(true);
  const loaded = new DayStats();
  const writer = new ProjectedWriter();
  day.save(writer);
  loaded.load(new ProjectedReader(writer.end()));
  for (const { turnover } of [day.at(START_MS), loaded.at(START_MS)]) {
    expect(turnover).toBeGreaterThanOrEqual(Number.MAX_SAFE_INTEGER);
  }
});
