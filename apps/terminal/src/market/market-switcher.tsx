/** The button with the market's name and its list of markets. */

import { type KeyboardEvent, Suspense, useEffect, useRef, useState } from "react";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Icon } from "../ui/icons.js";
import { later } from "../ui/later.js";

/** Not needed for the first paint. */
const MarketList = later(async () => ({
  default: (await import("./market-list.js")).MarketList,
}));

export function MarketSwitcher() {
  const { marketFeed } = useTerminal();
  const current = useStore(marketFeed.current);
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
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
        <span className="unseen">{t.market.shown}</span>
        {current?.market.symbol ?? t.words.loading}
        {current !== undefined && <span className="chip">{current.market.maxLeverage}×</span>}
        <Icon name="chevron" />
      </button>
      <Suspense>
        {isOpen && <MarketList current={current?.market.symbol} onChoose={choose} />}
      </Suspense>
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
