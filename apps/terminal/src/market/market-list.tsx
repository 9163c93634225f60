/** The list of markets: searched, sorted by a column, favourites first. */

import { type FormEvent, useEffect, useMemo, useRef, useState } from "react";
import { formatPercent, percentTone } from "../format/numbers.js";
import { readPreference, writePreference } from "../state/preferences.js";
import { Store, useStore } from "../state/store.js";
import { type Terminal, useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Icon } from "../ui/icons.js";
import { type MarketView, priceText } from "../venue/market-view.js";
import { interestText, openInterestOf, volumeText } from "./market-figures.js";

/** Markets that the user has marked; they are listed first. */
const favourites = new Store<readonly string[]>(
  (readPreference("favourites") ?? "").split(" ").filter(Boolean),
  "immediate",
);

function switchFavourite(symbol: string): void {
  favourites.update((known) =>
    known.includes(symbol) ? known.filter((each) => each !== symbol) : [...known, symbol],
  );
  writePreference("favourites", favourites.get().join(" "));
}

const COLUMNS = ["market", "mark", "change", "volume", "interest", "funding"] as const;
type ColumnName = (typeof COLUMNS)[number];

interface Sort {
  readonly by: ColumnName;
  readonly sign: 1 | -1;
}

interface ListProps {
  readonly current: string | undefined;
  readonly onChoose: (symbol: string) => void;
}

export function MarketList({ current, onChoose }: ListProps) {
  const terminal = useTerminal();
  const markets = useStore(terminal.marketFeed.markets);
  const marked = useStore(favourites);
  const [text, setText] = useState("");
  const [sort, setSort] = useState<Sort>();
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => search.current?.focus(), []);
  const wanted = text.trim().toUpperCase();
  // By the figures of this moment: a row must not move away under a finger.
  const sorted = useMemo(
    () => sortedMarkets(terminal, markets ?? [], marked, sort),
    [terminal, markets, marked, sort],
  );
  const found = sorted.filter(({ market }) => market.symbol.includes(wanted));
  const chooseFirst = (event: FormEvent) => {
    event.preventDefault();
    const [first] = found;
    if (first !== undefined) onChoose(first.market.symbol);
  };
  return (
    <div className="market-list">
      <form className="market-search box" onSubmit={chooseFirst}>
        <input
          ref={search}
          type="search"
          aria-label={t.market.search}
          placeholder={t.market.search}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </form>
      <div className="market-head">
        {COLUMNS.map((name) => (
          <button
            key={name}
            type="button"
            aria-label={t.market.sortBy(t.market.columns[name])}
            aria-pressed={sort?.by === name}
            onClick={() => setSort(nextSort(sort, name))}
          >
            {t.market.columns[name]}
            {sort?.by === name && (sort.sign < 0 ? " ↓" : " ↑")}
          </button>
        ))}
      </div>
      <ul aria-label={t.market.list}>
        {found.map((view) => (
          <li key={view.market.symbol} className="market-row">
            <button
              type="button"
              className="favourite"
              aria-pressed={marked.includes(view.market.symbol)}
              aria-label={t.market.favourite(view.market.symbol)}
              onClick={() => switchFavourite(view.market.symbol)}
            >
              <Icon name="star" />
            </button>
            <MarketItem
              view={view}
              isCurrent={view.market.symbol === current}
              onChoose={() => onChoose(view.market.symbol)}
            />
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="empty">{t.market.noneFound}</p>}
    </div>
  );
}

interface ItemProps {
  readonly view: MarketView;
  readonly isCurrent: boolean;
  readonly onChoose: () => void;
}

function MarketItem({ view, isCurrent, onChoose }: ItemProps) {
  const { marketFeed } = useTerminal();
  const ticker = useStore(marketFeed.ticker(view.market.symbol));
  const change = ticker?.change24h ?? null;
  return (
    <button type="button" className="market-item" aria-current={isCurrent} onClick={onChoose}>
      <span className="name">
        {view.market.symbol} <span className="chip">{view.market.maxLeverage}×</span>
      </span>
      <span>{priceText(view, ticker?.mark ?? view.market.markPrice)}</span>
      <span className={percentTone(change) || "soft"}>{formatPercent(change)}</span>
      <span className="more-figure">{volumeText(view, ticker)}</span>
      <span className="more-figure">{interestText(view, ticker)}</span>
      <span className={`more-figure ${percentTone(ticker?.fundingRate, 4)}`}>
        {formatPercent(ticker?.fundingRate, 4)}
      </span>
    </button>
  );
}

/** Names from A, figures from the largest; then the other way, then the venue's order. */
function nextSort(sort: Sort | undefined, by: ColumnName): Sort | undefined {
  const first = by === "market" ? 1 : -1;
  if (sort?.by !== by) return { by, sign: first };
  return sort.sign === first ? { by, sign: first === 1 ? -1 : 1 } : undefined;
}

function sortedMarkets(
  terminal: Terminal,
  markets: readonly MarketView[],
  marked: readonly string[],
  sort: Sort | undefined,
): readonly MarketView[] {
  const isMarked = ({ market }: MarketView) => Number(marked.includes(market.symbol));
  const order = (a: MarketView, b: MarketView) =>
    sort === undefined ? 0 : sort.sign * compare(terminal, sort.by, a, b);
  return markets.toSorted((a, b) => isMarked(b) - isMarked(a) || order(a, b));
}

function compare(terminal: Terminal, by: ColumnName, a: MarketView, b: MarketView): number {
  if (by === "market") return a.market.symbol < b.market.symbol ? -1 : 1;
  return figureOf(terminal, by, a) - figureOf(terminal, by, b);
}

/** What is not known counts as least. */
function figureOf(
  { marketFeed }: Terminal,
  by: Exclude<ColumnName, "market">,
  { market }: MarketView,
): number {
  const ticker = marketFeed.ticker(market.symbol).get();
  const figures = {
    mark: ticker?.mark,
    change: ticker?.change24h,
    volume: ticker?.turnover24h,
    interest: openInterestOf(ticker),
    funding: ticker?.fundingRate,
  };
  return figures[by] ?? Number.MIN_SAFE_INTEGER;
}
