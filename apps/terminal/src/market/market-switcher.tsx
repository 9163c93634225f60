/** The button with the market's name, and the list it opens: every market with mark and change. */

import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { formatPercent } from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Icon } from "../ui/icons.js";
import { type MarketView, priceText } from "../venue/market-view.js";

export function MarketSwitcher() {
  const { board } = useTerminal();
  const current = useStore(board.current);
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    box.current?.querySelector<HTMLElement>("[aria-current=true]")?.focus();
    const closeOutside = (event: PointerEvent) => {
      if (event.target instanceof Node && box.current?.contains(event.target) === false) {
        setOpen(false);
      }
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, [isOpen]);
  const choose = (symbol: string) => {
    board.select(symbol);
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
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>(".market-item")];
  if (items.length === 0) return;
  event.preventDefault();
  const at = items.findIndex((item) => item.matches(":focus"));
  items[(at + step + items.length) % items.length]?.focus();
}

interface ListProps {
  readonly current: string | undefined;
  readonly onChoose: (symbol: string) => void;
}

function MarketList({ current, onChoose }: ListProps) {
  const { board } = useTerminal();
  const markets = useStore(board.markets) ?? [];
  return (
    <ul className="market-list" aria-label="Markets">
      {markets.map((view) => (
        <li key={view.market.symbol}>
          <MarketItem
            view={view}
            isCurrent={view.market.symbol === current}
            onChoose={() => onChoose(view.market.symbol)}
          />
        </li>
      ))}
    </ul>
  );
}

interface ItemProps {
  readonly view: MarketView;
  readonly isCurrent: boolean;
  readonly onChoose: () => void;
}

function MarketItem({ view, isCurrent, onChoose }: ItemProps) {
  const { board } = useTerminal();
  const ticker = useStore(board.ticker(view.market.symbol));
  const change = ticker?.change24h ?? null;
  return (
    <button type="button" className="market-item" aria-current={isCurrent} onClick={onChoose}>
      <span className="name">
        {view.market.symbol} <span className="chip">{view.market.maxLeverage}×</span>
      </span>
      <span>{priceText(view, ticker?.mark ?? view.market.markPrice)}</span>
      <span className={change === null || change === 0 ? "soft" : change > 0 ? "long" : "short"}>
        {formatPercent(change)}
      </span>
    </button>
  );
}
