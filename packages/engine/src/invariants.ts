/**
 * What must hold after every command, tested with a handful of comparisons on running totals and on
 * the rows the command touched. A failure undoes the command and halts the market at fault; it is
 * a fault of the program or a figure beyond the safe integers, never a trader's doing.
 */
import { IntegerOverflow } from "@perpgate/protocol/integers";
import { INVARIANT, type Invariant } from "./reasons.js";
import { MARKET, type Market } from "./state/market.js";
import { ACCOUNT, ACCOUNT_WORDS, GLOBAL, type VenueState } from "./state/venue.js";

export class InvariantViolation extends Error {
  override readonly name = "InvariantViolation";
  constructor(
    readonly invariant: Invariant,
    readonly market: number,
  ) {
    super(`${invariant} in market ${market}`);
  }
}

/** The number under which `MarketHalted` reports the failure, or null if it is not one of ours. */
export function invariantOf(error: unknown): number | null {
  if (error instanceof InvariantViolation) return INVARIANT[error.invariant];
  if (error instanceof IntegerOverflow) return INVARIANT.overflow;
  return null;
}

export function checkInvariants(s: VenueState): void {
  const g = s.globals.data;
  const held =
    g[GLOBAL.WALLETS]! +
    g[GLOBAL.MARGINS]! +
    g[GLOBAL.RESERVES]! +
    g[GLOBAL.FEES]! +
    g[GLOBAL.FUND]!;
  const owed = g[GLOBAL.DEPOSITS]! + g[GLOBAL.COST]!;
  if (held !== owed) throw new InvariantViolation("money_conserved", s.focus);
  if (!(Math.abs(held) <= Number.MAX_SAFE_INTEGER)) {
    throw new InvariantViolation("overflow", s.focus);
  }
  const { undo } = s;
  for (let i = 0; i < undo.count; i++) {
    const table = undo.tables[i]!;
    if (table === s.accounts) {
      if (!(table.data[undo.rows[i]! * ACCOUNT_WORDS + ACCOUNT.WALLET]! >= 0)) {
        throw new InvariantViolation("wallet_negative", s.focus);
      }
    } else if (table === s.figures) {
      checkMarket(s.markets[undo.rows[i]!]!);
    }
  }
}

function checkMarket(market: Market): void {
  if (market.get(MARKET.SUM_LOTS) !== 0) {
    throw new InvariantViolation("lots_balanced", market.number);
  }
  const { bids, asks } = market;
  if (bids.count > 0 && asks.count > 0 && bids.bestTicks() >= asks.bestTicks()) {
    throw new InvariantViolation("book_crossed", market.number);
  }
}
