/** The button with the market's name and its list of markets. */

import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { formatPercent, percentTone } from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Icon } from "../ui/icons.js";
import { type MarketView, priceText } from "../venue/market-view.js";
import { favourites, switchFavourite } from "./favourites.js";

export function MarketSwitcher() {
  const { marketFeed } = useTerminal();
  const current = useStore(marketFeed.current);
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    box.current?.querySelector<HTMLElement>("input")?.focus();
    const closeOutside = (event: PointerEvent) => {
      if (event.target instanceof Node && box.current?.contains(event.target) === false) {
        setOpen(false);
      }
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, [isOpen]);
  const choose = (symbol: string) => {
    marketFeed.select(symbol);
    setOpen(false);
    box.current?.querySelector<HTMLElement>(".switcher")?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes from anywhere inside
    <div className="switcher-box" ref={box} onKeyDown={(event) => moveOrClose(event, setOpen)}>
      <button
        type="button"
        className="switcher"
        aria-expanded={isOpen}
        aria-haspopup="true"
        onClick={() => setOpen(!isOpen)}
      >
        <span className="unseen">Market: </span>
        {current?.market.symbol ?? "Loading…"}
        {current !== undefined && <span className="chip">{current.market.maxLeverage}×</span>}
        <Icon name="chevron" />
      </button>
      {isOpen && <MarketList current={current?.market.symbol} onChoose={choose} />}
    </div>
  );
}

function moveOrClose(event: KeyboardEvent<HTMLElement>, setOpen: (open: boolean) => void): void {
  if (event.key === "Escape") {
    setOpen(false);
    event.currentTarget.querySelector<HTMLElement>(".switcher")?.focus();
    return;
  }
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  const items = [
    ...event.currentTarget.querySelectorAll<HTMLElement>(".market-search input, .market-item"),
  ];
  if (items.length === 0) return;
  event.preventDefault();
  const at = items.findIndex((item) => item.matches(":focus"));
  items[(at + step + items.length) % items.length]?.focus();
}

interface ListProps {
  readonly current: string | undefined;
  readonly onChoose: (symbol: string) => void;
}

/** Favourites first, then the venue's order. */
function MarketList({ current, onChoose }: ListProps) {
  const { marketFeed } = useTerminal();
  const markets = useStore(marketFeed.markets) ?? [];
  const marked = useStore(favourites);
  const [text, setText] = useState("");
  const wanted = text.trim().toUpperCase();
  const found = markets
    .filter(({ market }) => market.symbol.includes(wanted))
    .map((view) => ({ view, isMarked: marked.includes(view.market.symbol) }))
    .sort((a, b) => Number(b.isMarked) - Number(a.isMarked));
  const chooseFirst = (event: FormEvent) => {
    event.preventDefault();
    const [first] = found;
    if (first !== undefined) onChoose(first.view.market.symbol);
  };
  return (
    <div className="market-list">
      <form className="market-search box" onSubmit={chooseFirst}>
        <input
          type="search"
          aria-label="Search markets"
          placeholder="Search markets"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </form>
      <ul aria-label="Markets">
        {found.map(({ view, isMarked }) => (
          <li key={view.market.symbol} className="market-row">
            <button
              type="button"
              className="favourite"
              aria-pressed={isMarked}
              aria-label={`Favourite ${view.market.symbol}`}
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
      {found.length === 0 && <p className="empty">No market has this name.</p>}
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
    </button>
  );
}
