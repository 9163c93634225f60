/**
 * The layout of the state, for readers beside the engine (views, history, verification). What is
 * named here is read, never written: the state changes by commands alone.
 */

export type { Ladder } from "./book/ladder.js";
export type { Deposit } from "./deposits/deposit-book.js";
export { depositKey } from "./deposits/deposit-commands.js";
export { fundingRate } from "./funding/funding.js";
export { equityOf } from "./margin/fill.js";
export { openOrdersOf } from "./margin/settle.js";
export type { Session } from "./sessions/session-book.js";
export { MARKET, type Market } from "./state/market.js";
export { NONE, ORDER, ORDER_WORDS } from "./state/orders.js";
export { POSITION, POSITION_WORDS } from "./state/positions.js";
export { ACCOUNT, ACCOUNT_WORDS, COHORT_STAGES, GLOBAL, type VenueState } from "./state/venue.js";
