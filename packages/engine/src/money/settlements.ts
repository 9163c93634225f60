/** The closing events of a command: every position that it touched, then the fund if it changed. */
import { emit } from "../events/event-log.js";
import type { VenueState } from "../state/venue.js";
import { refreshWatch } from "./watch.js";

export function emitSettlements(s: VenueState): void {
  const { undo, totals } = s;
  for (let i = 0; i < undo.count; i++) {
    const number = undo.tables[i]!.market;
    if (number < 0) continue;
    const market = s.markets[number]!;
    const { positions } = market;
    const row = undo.rows[i]!;
    refreshWatch(market, row);
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
