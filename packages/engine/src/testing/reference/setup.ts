/**
 * Genesis, Configure and Upgrade: parameters and rules enter through the log only.
 */
import type { Configure, Genesis, Upgrade } from "../../commands.js";
import {
  configFault,
  HOUR_MS,
  type MarketConfig,
  TICK_MS,
  type VenueConfig,
} from "../../config.js";
import { emit, settleEvents, touch } from "./end-events.js";
import { num } from "./integers.js";
import { openOrders } from "./open-orders.js";
import { type Refused, refused } from "./refusal.js";
import { settle } from "./settle.js";
import { newMarket, positionOf, type State } from "./state.js";
import { lineUpAll } from "./stop-lines.js";
import { fixLots } from "./stops.js";

export function genesis(state: State, command: Genesis): Refused | null {
  if (configFault(command.config) !== null) return refused("configuration_invalid");
  if (!state.versions.has(command.engineVersion)) throw new Error("an unknown engine version");
  state.version = command.engineVersion;
  state.started = true;
  state.time = command.stampMs;
  state.lastTick = Math.floor(command.stampMs / TICK_MS) * TICK_MS;
  state.nextFundingAt = (Math.floor(command.stampMs / HOUR_MS) + 1) * HOUR_MS;
  state.config = command.config;
  state.cohort = command.cohort;
  state.markets = command.config.markets.map((market, number) => newMarket(number, market));
  state.fund = BigInt(command.config.fundSeedMicros);
  state.deposits = state.fund;
  emit(state, { kind: "VenueStarted", timeMs: state.time, fundMicros: num(state.fund) });
  return null;
}

export function configure(state: State, command: Configure): Refused | null {
  const { config } = command;
  if (configFault(config) !== null || !continues(state, config)) {
    return refused("configuration_invalid");
  }
  if (config.markets.length > state.markets.length && raises(state.config, config)) {
    return refused("configuration_raises_and_lists");
  }
  const fees = state.config.markets.map(({ makerFeePpm }) => makerFeePpm);
  state.config = config;
  config.markets.forEach((market, number) => {
    const listed = state.markets[number];
    if (listed === undefined) state.markets.push(newMarket(number, market));
    else listed.config = market;
  });
  emit(state, { kind: "VenueConfigured", markets: state.markets.length });
  // Open orders reserve under a new fee from now on.
  const before = { fund: state.fund, fees: state.fees };
  for (const market of state.markets) {
    if (fees[market.number] === market.config.makerFeePpm) continue;
    for (const account of state.accounts) {
      const position = positionOf(state, account.number, market.number);
      if (position.orders.length === 0) continue;
      touch(state, position);
      settle(state, account.number, market.number);
    }
  }
  settleEvents(state, before);
  return null;
}

export function upgrade(state: State, { version }: Upgrade): Refused | null {
  const lacking = state.writers.find(({ versions: [oldest, newest] }) => {
    return version < oldest || version > newest;
  });
  if (lacking !== undefined) return refused("writer_lacks_version", lacking.number);
  if (!state.versions.has(version)) throw new Error(`version ${version} is not known`);
  if (version !== state.version + 1) return refused("version_not_next", state.version);
  state.version = version;
  if (version === 3) {
    for (const market of state.markets) market.liveTicks = market.premiumCount;
    const triggered = state.accounts.flatMap(openOrders).filter((order) => order.triggered);
    for (const order of triggered.sort((a, b) => a.id - b.id)) fixLots(state, order);
    lineUpAll(state);
    state.fresh = [...new Set(state.carriedDisconnects.map(({ account }) => account))];
  }
  emit(state, { kind: "EngineUpgraded", version });
  settleEvents(state, state);
  return null;
}

/** Whether any limit is looser than before. */
function raises(before: VenueConfig, after: VenueConfig): boolean {
  return (
    after.backstopCapMicros > before.backstopCapMicros ||
    after.fundLossPerHourPpm > before.fundLossPerHourPpm ||
    after.maxOpenOrders > before.maxOpenOrders ||
    after.devCreditMicros > before.devCreditMicros ||
    before.markets.some((old, number) => {
      const next = after.markets[number];
      return next !== undefined && isLooser(old, next);
    })
  );
}

function isLooser(old: MarketConfig, next: MarketConfig): boolean {
  return (
    next.bandPpm > old.bandPpm ||
    next.maxOpenInterestMicros > old.maxOpenInterestMicros ||
    next.maxIndexJumpPpm > old.maxIndexJumpPpm ||
    next.tiers.some((tier, place) => {
      const was = old.tiers[place];
      return (
        was === undefined ||
        tier.upToMicros > was.upToMicros ||
        tier.maxLeverage > was.maxLeverage ||
        tier.maintenancePpm < was.maintenancePpm
      );
    })
  );
}

/** Markets keep their number and unit, new ones are appended; seed and attestor kind are fixed. */
function continues(state: State, config: VenueConfig): boolean {
  const same =
    config.fundSeedMicros === state.config.fundSeedMicros &&
    config.attestorKind === state.config.attestorKind;
  const kept = state.markets.every(({ number, config: old }) => {
    const market = config.markets[number];
    return market?.symbol === old.symbol && market.microsPerTickLot === old.microsPerTickLot;
  });
  return same && kept;
}
