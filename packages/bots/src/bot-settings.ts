/** How the bots trade: what a configuration may change, and what it is if nobody does. */

export interface BotSettings {
  /** Wallets and decisions follow from it: the same seed is the same crowd. */
  readonly seed: number;
  /** Price levels that the makers aim at, on each side of each market. */
  readonly levels: number;
  /** How often the quotes of a market follow its index. */
  readonly refreshMs: number;
  /** Orders and cancels of all makers together; more markets share it. */
  readonly actionsPerSecond: number;
  /** Trades that noise makes in the first market; later ones see fewer. */
  readonly tradesPerMinute: number;
  /** Accounts that play with as much leverage as there is. */
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

/** Where the bots trade, and as whom a wallet must say to speak there. */
export interface BotVenue {
  /** The public address of the gateway. */
  readonly url: string;
  /** The domain that a sign-in names; that of the address if there is none. */
  readonly domain?: string;
  readonly chainId?: number;
}

/** Takes what is worth an operator's attention. */
export interface BotLog {
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
}
