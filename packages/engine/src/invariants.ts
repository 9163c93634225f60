/**
 * What must hold after every command: a few comparisons of running totals and of the rows that the
 * command touched. A failure undoes the command and halts the market at fault. Its cause is a bug or
 * a figure beyond the safe integers; no trader's command may cause it.
 */
import { IntegerOverflow } from "@perpgate/protocol/integers";
import { INVARIANT, type Invariant } from "./reasons.js";
import type { Market } from "./state/market.js";
import type { VenueState } from "./state/venue.js";

export class InvariantViolation extends Error {
  override readonly name = "InvariantViolation";
  constructor(
    readonly invariant: Invariant,
    readonly market: number,
  ) {
    super(`${invariant} in market ${market}`);
  }
}

/** The number that `MarketHalted` reports for the failure, or null for any other error. */
export function invariantOf(error: unknown): number | null {
  if (error instanceof InvariantViolation) return INVARIANT[error.invariant];
  if (error instanceof IntegerOverflow) return INVARIANT.overflow;
  return null;
}

export function checkInvariants(s: VenueState): void {
  const { wallets, margins, reserves, fees, fund, fundingPool, deposits, cost } = s.totals;
  const held = wallets + margins + reserves + fees + fund + fundingPool + s.totals.settlementPools;
  const owed = deposits + cost;
  if (held !== owed) throw new InvariantViolation("money_conserved", s.focus);
  if (!(Math.abs(held) <= Number.MAX_SAFE_INTEGER)) {
    throw new InvariantViolation("overflow", s.focus);
  }
  const { undo } = s;
  for (let i = 0; i < undo.count; i++) {
    const table = undo.tables[i]!;
    if (table === s.accounts) {
      if (!(s.wallet(undo.rows[i]!) >= 0)) {
        throw new InvariantViolation("wallet_negative", s.focus);
      }
    } else if (table === s.figures) {
      checkMarket(s.markets[undo.rows[i]!]!);
    }
  }
}

function checkMarket(market: Market): void {
  if (market.sumLots !== 0) {
    throw new InvariantViolation("lots_balanced", market.number);
  }
  const { bids, asks } = market;
  if (bids.count > 0 && asks.count > 0 && bids.bestTicks() >= asks.bestTicks()) {
    throw new InvariantViolation("book_crossed", market.number);
  }
}
