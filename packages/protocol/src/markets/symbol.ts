/** A market's symbol, base and quote in one word, and what its candles come in. */

export const SYMBOL_PATTERN = "^[A-Z0-9]{2,24}$";

export const RESOLUTIONS = ["1m", "5m", "15m", "1h", "4h", "1d"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** What candles are made of: the public trades, the mark price or the index. */
export const CANDLE_PRICES = ["trades", "mark", "index"] as const;
export type CandlePrice = (typeof CANDLE_PRICES)[number];
