/**
 * The rule constants of a venue: the numbers that no configuration changes. The engine enforces
 * them; gateway, SDK and page import them from here, so each is written once.
 *
 * Units: money in micro-dollars, rates in millionths (ppm) or billionths, times in milliseconds.
 */

/** One, in millionths. */
export const PPM = 1_000_000;

export const TICK_MS = 200;
/** How far a command's timestamp, or a tick, may be ahead of the last tick. */
export const MAX_LEAD_MS = 1_000;
export const HOUR_MS = 3_600_000;

/** Upper bound of margin × leverage, and of what an account's open orders in a market may add. */
export const MAX_ORDER_NOTIONAL_MICROS = 1e15;
export const MAX_BATCH_OPERATIONS = 50;
/** Prices of limit and stop orders stay within mark ÷ 10 … mark × 10. */
export const PRICE_RANGE_FACTOR = 10;
/** Parts of one deposit: far above the logs that a block's gas allows, at a hundred logs per part. */
export const MAX_VOTE_PARTS = 1_000;
/** Executed nonces that a session remembers. */
export const NONCE_WINDOW = 1_024;
/** Clients take their nonces from the clock, as many as this for each millisecond. */
export const NONCES_PER_MS = 8_192;
/** 2024-01-01: nonces stay below 2^53 until 2058. */
const NONCE_EPOCH_MS = 1_704_067_200_000;

/** The first nonce of a millisecond. */
export function clockNonce(nowMs: number): number {
  return Math.max(0, nowMs - NONCE_EPOCH_MS) * NONCES_PER_MS;
}

/** The millisecond from which a nonce was taken. */
export function clockTimeOf(nonce: number): number {
  return NONCE_EPOCH_MS + Math.floor(nonce / NONCES_PER_MS);
}
/** Bounds of the delay of cancel-after; 0 disarms it. */
export const MIN_CANCEL_AFTER_MS = 1_000;
export const MAX_CANCEL_AFTER_MS = 3_600_000;

/** An index older than this is stale: only reductions and cancels run. */
export const INDEX_STALE_MS = 10_000;
/** Time constant of the average premium in the mark. */
export const MARK_EMA_MS = 150_000;

export const LIQUIDATION_FEE_PPM = 5_000;
/** How far from the mark the backstop trades when it reduces its position. */
export const BACKSTOP_SLICE_PPM = 5_000;

/** One, in the billionths of funding rates. */
export const RATE_SCALE = 1_000_000_000;
export const INTEREST_PER_8H = 100_000;
export const PREMIUM_CLAMP_PER_8H = 500_000;
export const FUNDING_CAP_PER_HOUR = 5_000_000;

/** Upper bound of all deposits of a venue together. */
export const MAX_DEPOSITS_MICROS = 2 ** 52;
/** How long after its registration the `dev` attestor credits a deposit. */
export const DEV_CREDIT_DELAY_MS = 400;
