/** The closing events of a command: every position that it touched, then the fund if it changed. */
import { emit } from "../events/event-log.js";
import { reportResized } from "../orders/exits.js";
import { followPosition } from "../orders/line-of-stop.js";
import type { PositionStore } from "../state/positions.js";
import type { UndoLog } from "../state/table.js";
import type { VenueState } from "../state/venue.js";
import { refreshWatch } from "./watch.js";

/**
 * Whether the command has changed what the watch of a touched position depends on. Most orders rest or
 * are canceled, and leave it as it was.
 */
function hasMoved(undo: UndoLog, i: number, positions: PositionStore, row: number): boolean {
  return (
    positions.lots(row) !== undo.savedWordOf(i, 1) ||
    positions.cost(row) !== undo.savedWordOf(i, 2) ||
    positions.margin(row) !== undo.savedWordOf(i, 3) ||
    positions.settledFunding(row) !== undo.savedWordOf(i, 10) ||
    positions.settledFundingBillionths(row) !== undo.savedWordOf(i, 11)
  );
}

/** `isTick`: what a tick refreshes on its way may have moved and moved back. */
export function emitSettlements(s: VenueState, isTick: boolean): void {
  const { undo, totals } = s;
  reportResized(s);
  for (let i = 0; i < undo.count; i++) {
    const number = undo.tables[i]!.market;
    if (number < 0) continue;
    const market = s.markets[number]!;
    const { positions } = market;
    const row = undo.rows[i]!;
    if (isTick || hasMoved(undo, i, positions, row)) {
      refreshWatch(market, row);
      if (s.rules.stopLines) followPosition(s, market, row);
    }
    const account = positions.account(row);
    emit.PositionSettled(s.events, {
      account,
      market: number,
      lots: positions.lots(row),
      costMicros: positions.cost(row),
      marginMicros: positions.margin(row),
      reservedMicros: positions.reserved(row),
      realizedMicros: positions.realized(row),
      fundingMicros: positions.funding(row),
      walletMicros: s.wallet(account),
    });
  }
  if (totals.fundHasChanged) {
    emit.FundChanged(s.events, { fundMicros: totals.fund, feesMicros: totals.fees });
  }
}
