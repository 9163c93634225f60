/** A market's symbol, base and quote in one word, and what its candles come in. */

export const SYMBOL_PATTERN = "^[A-Z0-9]{2,24}$";

export const RESOLUTIONS = ["1m", "5m", "15m", "1h", "4h", "1d"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

const MINUTE_MS = 60_000;
export const RESOLUTION_MS: Readonly<Record<Resolution, number>> = {
  "1m": MINUTE_MS,
  "5m": 5 * MINUTE_MS,
  "15m": 15 * MINUTE_MS,
  "1h": 60 * MINUTE_MS,
  "4h": 240 * MINUTE_MS,
  "1d": 1_440 * MINUTE_MS,
};

/** What candles are made of: the public trades, the mark price or the index. */
export const CANDLE_PRICES = ["trades", "mark", "index"] as const;
export type CandlePrice = (typeof CANDLE_PRICES)[number];
