/** The closing events of a command: every position it touched, as it stands now; then the fund. */
import { EVENT } from "../event-log.js";
import { POSITION, POSITION_WORDS } from "../state/positions.js";
import { GLOBAL, type VenueState } from "../state/venue.js";
import { refreshWatch } from "./watch.js";

export function emitSettlements(s: VenueState): void {
  const { undo } = s;
  for (let i = 0; i < undo.count; i++) {
    const number = undo.tables[i]!.market;
    if (number < 0) continue;
    const market = s.markets[number]!;
    const row = undo.rows[i]!;
    refreshWatch(market, row);
    const at = row * POSITION_WORDS;
    const data = market.positions.table.data;
    const account = data[at + POSITION.ACCOUNT]!;
    const w = s.events.open(EVENT.PositionSettled, 9);
    const words = s.events.words;
    words[w] = account;
    words[w + 1] = number;
    words[w + 2] = data[at + POSITION.LOTS]!;
    words[w + 3] = data[at + POSITION.COST]!;
    words[w + 4] = data[at + POSITION.MARGIN]!;
    words[w + 5] = data[at + POSITION.RESERVED]!;
    words[w + 6] = data[at + POSITION.REALIZED]!;
    words[w + 7] = data[at + POSITION.FUNDING]!;
    words[w + 8] = s.wallet(account);
  }
  const fund = s.global(GLOBAL.FUND);
  const fees = s.global(GLOBAL.FEES);
  // Row 0 of the globals is the first row a command saves, so its old words come first.
  if (fund === undo.savedWord(GLOBAL.FUND) && fees === undo.savedWord(GLOBAL.FEES)) return;
  const w = s.events.open(EVENT.FundChanged, 2);
  s.events.words[w] = fund;
  s.events.words[w + 1] = fees;
}
