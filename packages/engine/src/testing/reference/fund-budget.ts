/**
 * "Fund budget": what the fund may lose in an hour to positions that it takes over and to the
 * backstop's funding.
 */
import { floorDiv, max } from "./integers.js";
import { MILLION, unrealised } from "./margin.js";
import type { State } from "./state.js";

const MINUTE_MS = 60_000;

function minuteOf(state: State): number {
  return Math.floor(state.time / MINUTE_MS);
}

function backstopPnl(state: State): bigint {
  return state.markets.reduce((sum, market) => sum + unrealised(market, market.backstop), 0n);
}

/** V: everything booked to the fund except its seed, and the backstop's unrealised PnL at mark. */
function resultNow(state: State): bigint {
  return state.fund - BigInt(state.config.fundSeedMicros) + backstopPnl(state);
}

/** Once a minute. */
export function sampleFund(state: State): void {
  const minute = minuteOf(state);
  if (state.fundSamples.at(-1)?.minute === minute) return;
  state.fundSamples.push({ minute, result: resultNow(state) });
}

export function fundWorth(state: State): bigint {
  return max(0n, state.fund + backstopPnl(state));
}

export function budgetLeft(state: State): bigint {
  const hourAgo = minuteOf(state) - 60;
  const then =
    state.fundSamples.filter(({ minute }) => minute <= hourAgo).at(-1) ?? state.fundSamples[0];
  const used = then === undefined ? 0n : then.result - resultNow(state);
  const budget = floorDiv(fundWorth(state) * BigInt(state.config.fundLossPerHourPpm), MILLION);
  return max(0n, budget - used);
}
