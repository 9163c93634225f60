/**
 * The engine's state, for readers (views, history, verification) and for benches of single parts.
 * Readers must not write: the state changes by commands only.
 */

export { equityOf } from "./money/fill.js";
export { fundBudget, fundLossUsed } from "./money/fund-budget.js";
export { fundingRate } from "./money/funding.js";
export { exposure, positionLimitLots } from "./money/opening.js";
export { settledFigures } from "./money/owed-funding.js";
export { openOrdersOf } from "./orders/open-orders.js";
export { namedOrder } from "./orders/placement-terms.js";
export {
  creditsAgain,
  type DepositRecord,
  depositKey,
  isUnseen,
} from "./state/deposits.js";
export type { KeptRequest } from "./state/kept-requests.js";
export { Ladder } from "./state/ladder.js";
export { MARKET_STATUSES, type Market } from "./state/market.js";
export { NONE, OrderStore } from "./state/orders.js";
export type { Session } from "./state/sessions.js";
export { UndoLog } from "./state/table.js";
export type { VenueState } from "./state/venue.js";
export { COHORT_STAGES } from "./state/venue-tables.js";
export {
  OPEN_WITHDRAWAL_STATUSES,
  type OpenStatus,
  type WithdrawalState,
} from "./state/withdrawals.js";
export {
  type RequestedWithdrawal,
  requestFault,
  type WithdrawalFault,
} from "./withdrawals/request.js";
export { epochOf, liveWriters, mayLead, writerOf } from "./writers/reading.js";
