/**
 * The fund's budget for an hour: what takeovers at a price worse than the mark, and the backstop's
 * funding, may cost it, over all markets together.
 *
 * V is everything booked to the fund except its seed, plus the backstop's unrealised PnL at mark,
 * sampled each minute. Used is V of 60 minutes ago less V now; the budget is a part of what the fund
 * is worth now.
 */
import { assertSafe, mulDivFloor, mulExact } from "@perpgate/protocol/integers";
import { PPM } from "../config.js";
import { FUND_SAMPLES, type VenueTables } from "../state/venue-tables.js";

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;

/** Records V once a minute. */
export function sampleFund(s: VenueTables): void {
  const minute = Math.floor(s.timeMs / MINUTE_MS);
  const { data } = s.fundSamples;
  let newest = 0;
  for (let row = 1; row < FUND_SAMPLES; row++) {
    if (data[row * 2]! > data[newest * 2]!) newest = row;
  }
  if (data[newest * 2] === minute) return;
  // Samples are a minute apart or more, so the one of an hour ago is among the last 61.
  const row = (newest + 1) % FUND_SAMPLES;
  s.fundSamples.touch(row);
  data[row * 2] = minute;
  data[row * 2 + 1] = fundResult(s);
}

/** What the fund may still lose now, in micros; never below 0. */
export function budgetLeft(s: VenueTables): number {
  return Math.max(0, fundBudget(s) - fundLossUsed(s));
}

/** The budget of an hour at the fund's present worth. */
export function fundBudget(s: VenueTables): number {
  return mulDivFloor(fundWorth(s), s.config!.fundLossPerHourPpm, PPM);
}

/** The fund and the backstop's unrealised PnL at mark; never below 0. */
export function fundWorth(s: VenueTables): number {
  return Math.max(0, s.totals.fund + backstopPnl(s));
}

/** What the fund has lost in the last 60 minutes; negative: gained. */
export function fundLossUsed(s: VenueTables): number {
  const hourAgo = Math.floor(s.timeMs / MINUTE_MS) - HOUR_MINUTES;
  const { data, rows } = s.fundSamples;
  // The newest of an hour ago or before; in a younger venue the oldest of all.
  let found = 0;
  let result = 0;
  for (let row = 0; row < rows; row++) {
    const minute = data[row * 2]!;
    if (minute === 0) continue;
    const isBetter = found <= hourAgo ? minute > found && minute <= hourAgo : minute < found;
    if (found !== 0 && !isBetter) continue;
    found = minute;
    result = data[row * 2 + 1]!;
  }
  return found === 0 ? 0 : result - fundResult(s);
}

function fundResult(s: VenueTables): number {
  return assertSafe(s.totals.fund - s.config!.fundSeedMicros + backstopPnl(s));
}

/** The backstop's unrealised PnL at mark, over all markets. */
function backstopPnl(s: VenueTables): number {
  let sum = 0;
  for (const market of s.markets) {
    const lots = market.backstopLots;
    if (lots !== 0) sum += mulExact(lots, market.markUnit) - market.backstopCost;
  }
  return assertSafe(sum);
}
