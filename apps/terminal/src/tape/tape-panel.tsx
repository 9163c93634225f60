/** The last trades, newest on top, coloured by the taker's side. */

import type { Trade } from "@perpgate/protocol";
import { useEffect, useRef } from "react";
import { formatFixed } from "../format/numbers.js";
import { formatClock } from "../format/text.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { rowHeightIn } from "../theme/row-height.js";
import type { MarketView } from "../venue/market-view.js";
import "./tape-panel.css";

export function TapePanel() {
  const { marketFeed } = useTerminal();
  const view = useStore(marketFeed.current);
  return (
    <section className="panel tape" aria-label={t.tape.title}>
      <div className="panel-head">
        <h2>{t.tape.title}</h2>
      </div>
      {view === undefined ? (
        <div className="panel-body" />
      ) : (
        <TapeView key={view.market.symbol} view={view} />
      )}
    </section>
  );
}

function TapeView({ view }: { readonly view: MarketView }) {
  const { tape } = useTerminal();
  const body = useRef<HTMLDivElement>(null);
  const isEmpty = useStore(tape.trades, (trades) => trades?.length === 0);
  useEffect(() => {
    const box = body.current;
    if (box === null) return;
    const rows = new TapeRows(box, view);
    const draw = () => rows.draw(tape.trades.get() ?? []);
    const resize = new ResizeObserver(() => {
      rows.fit();
      draw();
    });
    resize.observe(box);
    const stop = tape.trades.watch(draw);
    return () => {
      stop();
      resize.disconnect();
      rows.destroy();
    };
  }, [tape, view]);
  const { base, quote } = view.market;
  return (
    <>
      <div className="tape-head" aria-hidden="true">
        <span>{t.words.priceIn(quote)}</span>
        <span>{t.words.sizeIn(base)}</span>
        <span>{t.words.time}</span>
      </div>
      {isEmpty && <p className="empty">{t.tape.empty}</p>}
      {/* biome-ignore lint/a11y/useSemanticElements: rows are updated outside of React */}
      <div className="panel-body tape-rows" role="table" aria-label={t.tape.label} ref={body} />
    </>
  );
}

/** As many rows as fit; only changed rows are rewritten. */
class TapeRows {
  private readonly rows: { element: HTMLElement; cells: HTMLElement[]; id: string }[] = [];

  constructor(
    private readonly box: HTMLElement,
    private readonly view: MarketView,
  ) {}

  fit(): void {
    const count = Math.floor(this.box.clientHeight / rowHeightIn(this.box));
    while (this.rows.length > count) this.rows.pop()?.element.remove();
    while (this.rows.length < count) this.add();
  }

  draw(trades: readonly Trade[]): void {
    for (const [at, row] of this.rows.entries()) {
      const trade = trades[at];
      const id = trade?.id ?? "";
      if (row.id === id) continue;
      row.id = id;
      row.element.className = `tape-row ${trade === undefined ? "" : `by-${trade.side}`}`;
      const texts = trade === undefined ? ["", "", ""] : this.textsOf(trade);
      for (const [place, cell] of row.cells.entries()) cell.textContent = texts[place] ?? "";
    }
  }

  destroy(): void {
    this.box.replaceChildren();
  }

  private textsOf({ price, size, time }: Trade): string[] {
    const { priceDigits, sizeDigits } = this.view;
    return [formatFixed(price, priceDigits), formatFixed(size, sizeDigits), formatClock(time)];
  }

  private add(): void {
    const element = document.createElement("div");
    element.className = "tape-row";
    element.setAttribute("role", "row");
    const cells = [0, 1, 2].map(() => {
      const cell = document.createElement("span");
      cell.setAttribute("role", "cell");
      return cell;
    });
    element.append(...cells);
    this.box.append(element);
    this.rows.push({ element, cells, id: "" });
  }
}
