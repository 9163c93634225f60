/**
 * The markets: the list, a ticker for each, and the one that is shown. The list is loaded again after
 * every reconnection, because a restarted venue may list more, and when a market is listed. The status of
 * each is that of the status stream. No stream has fees and tiers: they are read again after each hour of
 * funding.
 */

import type { Market, Ticker, VenueStatus } from "@perpgate/protocol";
import type { PerpgateClient, Subscription } from "@perpgate/sdk";
import { symbolInLink } from "../market/market-link.js";
import { readPreference, writePreference } from "../state/preferences.js";
import { Store } from "../state/store.js";
import { isListedAs, type MarketView, viewOf } from "./market-view.js";
import { ONCE, Refresher } from "./refresher.js";

export class MarketFeed {
  readonly markets = new Store<readonly MarketView[] | undefined>(undefined);
  /** The shown market. */
  readonly current = new Store<MarketView | undefined>(undefined, "immediate");
  /** The end of the current hour of funding, which is the same in all markets. */
  readonly nextFundingAt = new Store<number | undefined>(undefined, "immediate");
  /** By symbol, of the last frame. */
  private statuses: ReadonlyMap<string, Market["status"]> = new Map();
  private readonly tickers = new Map<string, Store<Ticker | undefined>>();
  private readonly watches = new Map<string, Subscription>();
  private readonly refresher = new Refresher(async () => {
    this.show(await this.client.markets(ONCE));
  });

  constructor(
    private readonly client: PerpgateClient,
    /** Called with every frame, also while the page is hidden. */
    private readonly onTicker: (ticker: Ticker) => void = () => undefined,
  ) {}

  load(): void {
    void this.refresher.now();
    this.client.stream.watchStatus((status) => this.noteStatus(status));
  }

  reload(): void {
    this.refresher.soon();
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

  private noteStatus({ markets }: VenueStatus): void {
    this.statuses = new Map(markets.map(({ symbol, status }) => [symbol, status]));
    const views = this.markets.get() ?? [];
    if (markets.some(({ symbol }) => this.view(symbol) === undefined)) this.reload();
    const isOther = ({ market: { symbol, status } }: MarketView) =>
      status !== (this.statuses.get(symbol) ?? status);
    if (views.some(isOther)) this.show(views.map(({ market }) => market));
  }

  /** With the status of the last frame: the list may have been read before it. */
  private show(list: readonly Market[]): void {
    // An unchanged market keeps its view object, so that no component is rebuilt.
    const views = list.map((listed) => {
      const market = { ...listed, status: this.statuses.get(listed.symbol) ?? listed.status };
      const known = this.view(market.symbol);
      return known !== undefined && isListedAs(known.market, market) ? known : viewOf(market);
    });
    this.markets.set(views);
    for (const { market } of views) this.watchTicker(market.symbol);
    const shown = this.current.get()?.market.symbol;
    const wanted = [shown, symbolInLink(), readPreference("symbol")].map((symbol) =>
      views.find(({ market }) => market.symbol === symbol),
    );
    const view = wanted.find((found) => found !== undefined) ?? views[0];
    if (view !== undefined) this.current.set(view);
  }

  private watchTicker(symbol: string): void {
    if (this.watches.has(symbol)) return;
    const store = this.ticker(symbol);
    this.watches.set(
      symbol,
      this.client.stream.watchTicker(symbol, (ticker) => {
        store.set(ticker);
        this.onTicker(ticker);
        this.noteFunding(ticker);
      }),
    );
  }

  private noteFunding({ nextFundingAt }: Ticker): void {
    const known = this.nextFundingAt.get();
    // A ticker of another market may be from before the hour.
    if (known !== undefined && nextFundingAt <= known) return;
    this.nextFundingAt.set(nextFundingAt);
    if (known !== undefined) this.reload();
  }
}
