/** The order book: rows with depth bars, the spread, and a choice of price step. */

import { fromSteps, toSteps } from "@perpgate/protocol/core";
import { useEffect, useRef, useState } from "react";
import { digitsOfStep, formatFixed, NO_VALUE } from "../format/numbers.js";
import { priceOfOrder } from "../order/amendment.js";
import { pickPrice } from "../order/order-form-state.js";
import { forgetFrame, onNextFrame } from "../state/frame.js";
import { useStore } from "../state/store.js";
import { type Terminal, useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { rowHeightIn } from "../theme/row-height.js";
import type { BookState } from "../venue/book-feed.js";
import type { MarketView } from "../venue/market-view.js";
import { aggregate, type LadderRow, stepOfRow, stepsFor } from "./aggregate.js";
import { BookLadder } from "./ladder.js";
import { SortedLevels } from "./levels.js";
import "./book-panel.css";

/** In ticks. */
const USUAL_STEP = 10;
const FIRST_DEPTH = 256;

export function BookPanel() {
  const { marketFeed } = useTerminal();
  const view = useStore(marketFeed.current);
  return (
    <section className="panel book" aria-label={t.book.title}>
      {view === undefined ? (
        <>
          <div className="panel-head">
            <h2>{t.book.title}</h2>
          </div>
          <div className="panel-body" />
        </>
      ) : (
        // A step in ticks is another price step in another market.
        <MarketBook key={view.market.symbol} view={view} />
      )}
    </section>
  );
}

function MarketBook({ view }: { readonly view: MarketView }) {
  const [step, setStep] = useState(() => usualStep(view));
  return (
    <>
      <div className="panel-head">
        <h2>{t.book.title}</h2>
        <StepChoice view={view} step={step} onChoose={setStep} />
      </div>
      <LadderView view={view} step={step} />
    </>
  );
}

function priceTicksOf({ market }: MarketView): number {
  return Math.round((market.markPrice ?? market.tickSize) / market.tickSize);
}

/** The largest step on offer up to the usual one. */
function usualStep(view: MarketView): number {
  const steps = stepsFor(priceTicksOf(view));
  return steps.findLast((ticks) => ticks <= USUAL_STEP) ?? 1;
}

interface StepProps {
  readonly view: MarketView;
  readonly step: number;
  readonly onChoose: (step: number) => void;
}

function StepChoice({ view, step, onChoose }: StepProps) {
  const { units } = view;
  return (
    <label>
      <span className="unseen">{t.book.step}</span>
      <select
        className="choice"
        value={step}
        onChange={(event) => onChoose(Number(event.target.value))}
      >
        {stepsFor(priceTicksOf(view)).map((ticks) => (
          <option key={ticks} value={ticks}>
            {String(fromSteps(ticks, units.tick))}
          </option>
        ))}
      </select>
    </label>
  );
}

function LadderView({ view, step }: { readonly view: MarketView; readonly step: number }) {
  const terminal = useTerminal();
  const body = useRef<HTMLDivElement>(null);
  const asks = useRef<HTMLDivElement>(null);
  const bids = useRef<HTMLDivElement>(null);
  const spread = useRef<HTMLDivElement>(null);
  const hasBook = useStore(terminal.book.state, (state) => state?.symbol === view.market.symbol);
  useEffect(() => {
    const parts = [body.current, asks.current, bids.current, spread.current] as const;
    const [bodyBox, askBox, bidBox, spreadBox] = parts;
    if (bodyBox === null || askBox === null || bidBox === null || spreadBox === null) return;
    return runLadder(terminal, view, step, { bodyBox, askBox, bidBox, spreadBox });
  }, [terminal, view, step]);
  const { base, quote } = view.market;
  return (
    <div className="panel-body ladder" ref={body} aria-busy={!hasBook}>
      <div className="ladder-head" aria-hidden="true">
        <span>{t.words.priceIn(quote)}</span>
        <span>{t.words.sizeIn(base)}</span>
        <span>{t.words.total}</span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: rows are updated outside of React */}
      <div className="ladder-side asks" role="grid" aria-label={t.book.asks} ref={asks} />
      <div className="spread" ref={spread}>
        <span className="skeleton" />
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div className="ladder-side bids" role="grid" aria-label={t.book.bids} ref={bids} />
    </div>
  );
}

interface Boxes {
  readonly bodyBox: HTMLElement;
  readonly askBox: HTMLElement;
  readonly bidBox: HTMLElement;
  readonly spreadBox: HTMLElement;
}

/** Draws in the frame after each change of book, orders or size; returns a function that stops it. */
function runLadder(
  { book, account }: Terminal,
  view: MarketView,
  step: number,
  { bodyBox, askBox, bidBox, spreadBox }: Boxes,
): () => void {
  const { units, priceDigits, sizeDigits } = view;
  // Steps of a dollar need no decimals.
  const rowDigits = Math.min(priceDigits, digitsOfStep(fromSteps(step, units.tick)));
  const texts = {
    price: (ticks: number) => formatFixed(fromSteps(ticks, units.tick), rowDigits),
    size: (lots: number) => formatFixed(fromSteps(lots, units.lot), sizeDigits),
  };
  const ladder = new BookLadder(askBox, bidBox, texts, (text) =>
    pickPrice(text.replaceAll(",", "")),
  );
  const levels = new SortedLevels();
  let rowCount = 0;
  const draw = () => {
    const state = book.state.get();
    if (state?.symbol !== view.market.symbol || rowCount === 0) return;
    const bids = rowsOf(state, levels, "bid", step, rowCount);
    const asks = rowsOf(state, levels, "ask", step, rowCount);
    const own = ownRows(account.orders.get(), view, step);
    ladder.draw({ rows: bids, own: own.bid }, { rows: asks, own: own.ask });
    const text = spreadText(state, view);
    if (spreadBox.textContent !== text) spreadBox.textContent = text;
  };
  const soon = () => onNextFrame(draw);
  const resize = new ResizeObserver(() => {
    rowCount = rowsThatFit(bodyBox, spreadBox);
    ladder.resize(rowCount);
    // In the same frame, so that no empty ladder is shown.
    draw();
  });
  resize.observe(bodyBox);
  const stops = [book.state.watch(draw), account.orders.watch(soon)];
  return () => {
    for (const stop of stops) stop();
    forgetFrame(draw);
    resize.disconnect();
    ladder.destroy();
  };
}

function rowsThatFit(body: HTMLElement, spread: HTMLElement): number {
  const rowHeight = rowHeightIn(body);
  const head = body.firstElementChild?.clientHeight ?? 0;
  const free = body.clientHeight - head - spread.offsetHeight;
  return Math.max(0, Math.floor(free / 2 / rowHeight));
}

/** Reads only as many levels as the rows need. */
function rowsOf(
  { book }: BookState,
  levels: SortedLevels,
  side: "bid" | "ask",
  step: number,
  rowCount: number,
): LadderRow[] {
  for (let depth = FIRST_DEPTH; ; depth *= 4) {
    levels.read(book, side, depth);
    // One extra row, so that the last one shown is complete.
    const rows = aggregate(side, levels, step, rowCount + 1);
    if (rows.length > rowCount || levels.count < depth) return rows.slice(0, rowCount);
  }
}

export function ownRows(
  orders: ReturnType<Terminal["account"]["orders"]["get"]>,
  { market, units }: MarketView,
  step: number,
): { bid: Set<number>; ask: Set<number> } {
  const own = { bid: new Set<number>(), ask: new Set<number>() };
  for (const order of orders?.values() ?? []) {
    const { symbol, status, side } = order;
    const price = priceOfOrder(order);
    if (symbol !== market.symbol || status !== "resting" || price === null) continue;
    const bookSide = side === "long" ? "bid" : "ask";
    own[bookSide].add(stepOfRow(bookSide, toSteps(price, units.tick), step));
  }
  return own;
}

function spreadText({ book }: BookState, { units, priceDigits }: MarketView): string {
  const bid = book.bestBid?.[0];
  const ask = book.bestAsk?.[0];
  if (bid === undefined && ask === undefined) return t.book.empty;
  if (bid === undefined || ask === undefined) return t.book.spread(NO_VALUE);
  // Rounded to whole ticks to remove floating-point noise.
  const ticks = Math.round((ask - bid) / units.tick.size);
  const spread = formatFixed(fromSteps(ticks, units.tick), priceDigits);
  const share = ((ask - bid) / ((ask + bid) / 2)) * 100;
  return t.book.spread(`${spread}  ${formatFixed(share, share < 0.01 ? 4 : 3)}%`);
}
