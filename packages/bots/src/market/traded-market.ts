/** One market that the crowd trades: its prices, its makers and its takers. */

import type { Market, PerpgateClient } from "@perpgate/sdk";
import type { BotAccount } from "../account/bot-account.js";
import type { BotSettings } from "../bot-settings.js";
import { MarketMaker } from "../quoting/market-maker.js";
import { MarketTakers, type TakerAccounts } from "../takers/market-takers.js";
import { MarketWatch } from "./market-watch.js";

/** Every market has at least this part of the first market's trades. */
const LEAST_SHARE = 0.25;

export interface CrowdAccounts {
  readonly makers: readonly BotAccount[];
  readonly takers: TakerAccounts;
}

export class TradedMarket {
  readonly maker: MarketMaker;
  readonly takers: MarketTakers;
  private readonly watch: MarketWatch;

  /** `place`: in the venue's list, from 0 of `count`. */
  constructor(
    client: PerpgateClient,
    market: Market,
    { makers, takers }: CrowdAccounts,
    { seed, levels, actionsPerSecond, tradesPerMinute }: BotSettings,
    place: number,
    count: number,
  ) {
    this.watch = new MarketWatch(client, market);
    this.maker = new MarketMaker(this.watch, makers, seed, levels, actionsPerSecond / count);
    const share = Math.max(LEAST_SHARE, 1 / (1 + 0.6 * place));
    this.takers = new MarketTakers(this.watch, takers, seed, tradesPerMinute * share);
  }

  close(): void {
    this.watch.close();
  }
}
