/**
 * The markets: the list, a ticker for each, and the one that is shown.
 *
 * The list is asked for until it is there, and again after every reconnection, since a restarted
 * venue may have listed more.
 */

import type { Market, Ticker } from "@perpgate/protocol";
import type { PerpgateClient, Subscription } from "@perpgate/sdk";
import { readPreference, writePreference } from "../state/preferences.js";
import { Store } from "../state/store.js";
import { isListedAs, type MarketView, viewOf } from "./market-view.js";

const RETRY_MS = 1_000;

export class MarketBoard {
  readonly markets = new Store<readonly MarketView[] | undefined>(undefined);
  /** The market that is shown. */
  readonly current = new Store<MarketView | undefined>(undefined, "at-once");
  private readonly tickers = new Map<string, Store<Ticker | undefined>>();
  private readonly watches = new Map<string, Subscription>();
  private isLoading = false;

  constructor(private readonly client: PerpgateClient) {}

  async load(): Promise<void> {
    if (this.isLoading) return;
    this.isLoading = true;
    try {
      this.show(await this.client.markets());
    } catch {
      setTimeout(() => void this.load(), RETRY_MS);
    } finally {
      this.isLoading = false;
    }
  }

  select(symbol: string): void {
    const view = this.view(symbol);
    if (view === undefined) return;
    writePreference("symbol", symbol);
    this.current.set(view);
  }

  view(symbol: string): MarketView | undefined {
    return this.markets.get()?.find(({ market }) => market.symbol === symbol);
  }

  ticker(symbol: string): Store<Ticker | undefined> {
    let store = this.tickers.get(symbol);
    if (store === undefined) {
      store = new Store<Ticker | undefined>(undefined);
      this.tickers.set(symbol, store);
    }
    return store;
  }

  private show(list: readonly Market[]): void {
    // A market that is listed as before keeps its view, so that nothing is built anew for it.
    const views = list.map((market) => {
      const known = this.view(market.symbol);
      return known !== undefined && isListedAs(known.market, market) ? known : viewOf(market);
    });
    this.markets.set(views);
    for (const { market } of views) this.watchTicker(market.symbol);
    const shown = this.current.get()?.market.symbol ?? readPreference("symbol");
    const view = views.find(({ market }) => market.symbol === shown) ?? views[0];
    if (view !== undefined) this.current.set(view);
  }

  private watchTicker(symbol: string): void {
    if (this.watches.has(symbol)) return;
    const store = this.ticker(symbol);
    this.watches.set(
      symbol,
      this.client.stream.watchTicker(symbol, (ticker) => store.set(ticker)),
    );
  }
}
