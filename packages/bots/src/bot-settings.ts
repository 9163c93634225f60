/** The settings of the bots and their defaults. */

export interface BotSettings {
  /** Wallets and decisions are derived from it: the same seed is the same crowd. */
  readonly seed: number;
  /** Price levels that the makers aim at, on each side of each market. */
  readonly levels: number;
  /** How often the quotes of a market follow its index. */
  readonly refreshMs: number;
  /** Orders and cancels of all makers together; more markets share it. */
  readonly actionsPerSecond: number;
  /** Trades that noise makes in the first market; later ones see fewer. */
  readonly tradesPerMinute: number;
  /** Accounts that trade with nearly the highest leverage. */
  readonly gamblers: number;
}

export const DEFAULT_BOTS: BotSettings = {
  seed: 1,
  levels: 400,
  refreshMs: 500,
  actionsPerSecond: 120,
  tradesPerMinute: 60,
  gamblers: 6,
};

/** The gateway that the bots trade at, and what their sign-in messages name. */
export interface BotVenue {
  /** The public address of the gateway. */
  readonly url: string;
  /** The host of `url` unless given. */
  readonly domain?: string;
  readonly chainId?: number;
}

/** For the operator. */
export interface BotLog {
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
}
