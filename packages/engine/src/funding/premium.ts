/** The impact premium: how far from the index a position of the impact notional could be opened. */
import { divCeil, mulDivFloor, mulDivTrunc } from "@perpgate/protocol/integers";
import type { Ladder } from "../book/ladder.js";
import { RATE_SCALE } from "../config.js";
import { SUBTICKS } from "../mark/mark.js";
import { MARKET, type Market } from "../state/market.js";

/** Adds one sample to the hour's average, if both sides hold the impact notional. */
export function samplePremium(market: Market): void {
  const bid = impactSubticks(market, market.bids);
  if (bid === 0) return;
  const ask = impactSubticks(market, market.asks);
  if (ask === 0) return;
  const index = market.get(MARKET.INDEX) * SUBTICKS;
  const gap = Math.max(0, bid - index) - Math.max(0, index - ask);
  const sample = mulDivTrunc(gap, RATE_SCALE, index);
  market.set(MARKET.PREMIUM_SUM, market.get(MARKET.PREMIUM_SUM) + sample);
  market.set(MARKET.PREMIUM_COUNT, market.get(MARKET.PREMIUM_COUNT) + 1);
}

/** Average price of taking the impact notional from a side, or 0 if the side is too thin. */
function impactSubticks(market: Market, ladder: Ladder): number {
  const target = market.config.impactNotionalMicros;
  let notional = 0;
  let lots = 0;
  for (let i = 0; i < ladder.count && notional < target; i++) {
    const unit = ladder.ticksAt(i) * market.microsPerTickLot;
    const taken = Math.min(ladder.lotsAt(i), divCeil(target - notional, unit));
    notional += taken * unit;
    lots += taken;
  }
  if (notional < target) return 0;
  return mulDivFloor(notional, SUBTICKS, lots * market.microsPerTickLot);
}
