/**
 * ControlMarket: an operator makes a market reduce-only, halts it, resumes it, or settles it for good.
 * A halted market, whether an operator or an invariant has halted it, can be taken up again or
 * settled; a settlement that has begun can only be finished.
 */
import type { ControlMarket } from "../commands.js";
import { awaitIndex } from "../money/mark.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import {
  MARKET_ACTIVE,
  MARKET_HALTED,
  MARKET_REDUCE_ONLY,
  MARKET_SETTLED,
  MARKET_SETTLING,
  type Market,
} from "../state/market.js";
import type { VenueState } from "../state/venue.js";
import { canSettleAt } from "./settlement.js";
import { beginSweep, SWEEP_CANCEL, SWEEP_REDUCE, setStatus } from "./sweep.js";

export function controlMarket(s: VenueState, command: ControlMarket): boolean {
  const market = s.markets[command.market];
  if (market === undefined) return refuse(s, REFUSAL.market_unknown);
  s.focus = market.number;
  if (command.action === "settle") return settleMarket(s, market, command.priceTicks);
  if (market.settlementTicks !== 0) return refuse(s, REFUSAL.market_settled);
  market.sweepAccount = 0;
  switch (command.action) {
    case "halt":
      setStatus(s, market, MARKET_HALTED);
      return true;
    case "resume":
      if (market.halted) awaitIndex(market, s.timeMs);
      setStatus(s, market, MARKET_ACTIVE);
      return true;
    case "reduceOnly":
      if (market.halted) awaitIndex(market, s.timeMs);
      setStatus(s, market, MARKET_REDUCE_ONLY);
      beginSweep(s, market, SWEEP_REDUCE);
      return true;
    default:
      return refuse(s, REFUSAL.invalid_command);
  }
}

/** Begins a settlement, or continues one that an invariant has stopped, at the same price. */
function settleMarket(s: VenueState, market: Market, priceTicks: number): boolean {
  const begun = market.settlementTicks;
  const isDone = market.status === MARKET_SETTLING || market.status === MARKET_SETTLED;
  if (isDone || (begun !== 0 && begun !== priceTicks)) return refuse(s, REFUSAL.market_settled);
  if (!canSettleAt(market, priceTicks)) return refuse(s, REFUSAL.invalid_command);
  market.settlementTicks = priceTicks;
  setStatus(s, market, MARKET_SETTLING);
  beginSweep(s, market, begun === 0 ? SWEEP_CANCEL : market.sweepPhase);
  return true;
}
