/** How a venue begins, and how its parameters change later. */
import type { Configure, Genesis } from "./commands.js";
import { configFault, HOUR_MS, type VenueConfig } from "./config.js";
import { EVENT } from "./event-log.js";
import { openPositions, rowsWithOrders } from "./margin/rows.js";
import { reserveAnew } from "./margin/settle.js";
import { refreshWatch } from "./margin/watch.js";
import { REFUSAL } from "./reasons.js";
import { refuse } from "./refuse.js";
import { Market } from "./state/market.js";
import { COHORT_STAGES, GLOBAL, type VenueState } from "./state/venue.js";

export function begin(s: VenueState, command: Genesis): boolean {
  if (s.config !== null) return refuse(s, REFUSAL.already_started);
  if (configFault(command.config) !== null) return refuse(s, REFUSAL.configuration_invalid);
  s.cohort = COHORT_STAGES.indexOf(command.cohort);
  adopt(s, command.config);
  const g = s.globals.data;
  g[GLOBAL.FUND] = command.config.fundSeedMicros;
  g[GLOBAL.DEPOSITS] = command.config.fundSeedMicros;
  g[GLOBAL.NEXT_FUNDING] = (Math.floor(s.timeMs / HOUR_MS) + 1) * HOUR_MS;
  g[GLOBAL.BLOCK] = 1;
  g[GLOBAL.BLOCK_FIRST] = 1;
  s.events.emit(EVENT.VenueStarted, s.timeMs, command.config.fundSeedMicros);
  return true;
}

/** Takes new parameters, and re-reserves every resting order under them. */
export function configure(s: VenueState, command: Configure): boolean {
  const { config } = command;
  if (configFault(config) !== null || !isContinuation(s, config)) {
    return refuse(s, REFUSAL.configuration_invalid);
  }
  adopt(s, config);
  s.events.emit(EVENT.VenueConfigured, config.markets.length);
  for (const market of s.markets) {
    if (market.halted) continue;
    s.focus = market.number;
    for (const row of rowsWithOrders(market)) reserveAnew(s, market, row);
    // Other tiers put the liquidation of every position elsewhere.
    for (const row of openPositions(market)) refreshWatch(market, row);
  }
  return true;
}

/** Lists the configured markets that are new and updates those that are listed. */
export function adopt(s: VenueState, config: VenueConfig): void {
  s.config = config;
  config.markets.forEach((market, number) => {
    const listed = s.markets[number];
    if (listed !== undefined) {
      listed.configure(market);
      return;
    }
    s.figures.append();
    s.markets.push(new Market(number, market, s.figures, s.orders, s.undo));
  });
}

/** Whether the venue may go on under it: nothing that must never change has changed. */
function isContinuation(s: VenueState, config: VenueConfig): boolean {
  const current = s.config!;
  return (
    config.fundSeedMicros === current.fundSeedMicros &&
    config.attestorKind === current.attestorKind &&
    current.markets.every((market, number) => {
      const next = config.markets[number];
      return (
        next !== undefined &&
        next.symbol === market.symbol &&
        next.microsPerTickLot === market.microsPerTickLot
      );
    })
  );
}
