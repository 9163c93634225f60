/** The candles of a market with the trader's fills and lines; an order is amended by dragging its line. */

import type { Order } from "@perpgate/protocol";
import type { OrderAmendment } from "@perpgate/sdk";
import { useEffect, useRef, useState } from "react";
import { formatDayAndClock } from "../format/text.js";
import { amendmentOf, asksToAmend } from "../order/amendment.js";
import { ConfirmAmend } from "../order/confirm-amend.js";
import { forgetFrame, onNextFrame } from "../state/frame.js";
import { type Terminal, useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { readColours, theme } from "../theme/theme.js";
import { CandleFeed } from "../venue/candle-feed.js";
import { type MarketView, priceText } from "../venue/market-view.js";
import { CandleChart } from "./candle-chart.js";
import { chartLinesOf } from "./chart-lines.js";
import { type DrawingKind, pointsOf } from "./drawings.js";
import { fillMarks } from "./fill-markers.js";
import { baseOf, type Interval, made, stepMsOf } from "./intervals.js";
import { Legend } from "./legend.js";
import { dragLines } from "./line-drag.js";
import { referenceFeed } from "./reference-feed.js";
import { REFERENCES, type Reference } from "./study-names.js";

/** A drawing whose points are still to be pressed. */
export interface Placing {
  readonly kind: DrawingKind;
  readonly text: string;
}

interface CandlesProps {
  readonly view: MarketView;
  readonly interval: Interval;
  /** Names of indicators and of reference prices. */
  readonly studies: ReadonlySet<string>;
  readonly placing: Placing | undefined;
  readonly onPlaced: () => void;
}

export default function CandlesView(props: CandlesProps) {
  const { view, interval, studies, placing, onPlaced } = props;
  const terminal = useTerminal();
  const box = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLDivElement>(null);
  const shown = useRef<RunningChart>(undefined);
  const [count, setCount] = useState<number>();
  const [begin, setBegin] = useState<number>();
  const [asked, setAsked] = useState<AskedMove>();
  useEffect(() => {
    if (box.current === null || legend.current === null) return;
    const onCount = (next: number) =>
      setCount((known) => (known === undefined || known === 0 ? next : known));
    const parts = {
      box: box.current,
      legend: legend.current,
      onCount,
      onBegin: setBegin,
      onAsk: setAsked,
    };
    const running = runChart(terminal, view, interval, parts);
    shown.current = running;
    return () => {
      shown.current = undefined;
      running.stop();
    };
  }, [terminal, view, interval]);
  useEffect(() => {
    // Again for another chart.
    void [view, interval];
    shown.current?.choose(studies);
  }, [view, interval, studies]);
  useEffect(() => {
    if (placing === undefined) return;
    const stop = shown.current?.place(placing, onPlaced);
    const handleKey = ({ key }: KeyboardEvent) => {
      if (key === "Escape") onPlaced();
    };
    window.addEventListener("keydown", handleKey);
    return () => {
      stop?.();
      window.removeEventListener("keydown", handleKey);
    };
  }, [placing, onPlaced]);
  return (
    <>
      <div
        className="candles"
        ref={box}
        role="img"
        aria-label={t.chart.label(view.market.symbol, interval)}
        aria-busy={count === undefined}
      />
      <div className="legend" ref={legend} data-testid="legend" />
      {begin !== undefined && (
        <p className="chart-begin" data-testid="chart-begin">
          {t.chart.begin(formatDayAndClock(begin))}
        </p>
      )}
      {count === 0 && <p className="empty over">{t.chart.empty}</p>}
      {placing !== undefined && (
        <p className="chart-hint" role="status">
          {pointsOf(placing.kind) === 1 ? t.chart.pressOnce : t.chart.pressTwice}
          <button type="button" className="button small" onClick={onPlaced}>
            {t.words.giveUp}
          </button>
        </p>
      )}
      {asked !== undefined && (
        <ConfirmAmend
          view={view}
          order={asked.order}
          amendment={asked.amendment}
          onAnswer={(isMoved) => {
            setAsked(undefined);
            asked.end(isMoved);
          }}
        />
      )}
    </>
  );
}

/** A line that was dropped where the trader is asked first. */
interface AskedMove {
  readonly order: Order;
  readonly amendment: OrderAmendment;
  readonly end: (isMoved: boolean) => void;
}

interface Parts {
  readonly box: HTMLElement;
  readonly legend: HTMLElement;
  readonly onCount: (count: number) => void;
  readonly onBegin: (time: number | undefined) => void;
  readonly onAsk: (asked: AskedMove) => void;
}

interface RunningChart {
  choose(studies: ReadonlySet<string>): void;
  /** The next presses are its points. Returns a function that gives up. */
  place(placing: Placing, onDone: () => void): () => void;
  stop(): void;
}

function runChart(
  terminal: Terminal,
  view: MarketView,
  interval: Interval,
  parts: Parts,
): RunningChart {
  const { client, line, account, alerts, drawings, marketFeed } = terminal;
  const { symbol } = view.market;
  const stepMs = stepMsOf(interval);
  const legend = new Legend(parts.legend, view);
  const chart = new CandleChart(parts.box, { view, stepMs }, readColours(), legend, {
    onNeedOlder: () => {
      for (const each of [feed, ...references.values()]) void each.loadOlder();
    },
    onCount: (count) => {
      parts.onCount(count);
      if (count > 1) drawFills();
    },
    onBegin: parts.onBegin,
    onDrop: (orderId, price, isTouch) => {
      const order = account.orders.get()?.get(orderId);
      const amendment = order === undefined ? undefined : amendmentOf(order, { price });
      const move = () => void amend(terminal, view, orderId, price).then(end);
      // The stream brings the new price of a line that has moved.
      const end = (isMoved: boolean) => {
        if (isMoved) return;
        chart.forgetLines();
        drawLines();
      };
      if (order === undefined || amendment === undefined) {
        end(false);
        return;
      }
      const position = account.positions.get()?.get(symbol);
      if (!isTouch && !asksToAmend(order, amendment, position)) move();
      else parts.onAsk({ order, amendment, end: (isMoved) => (isMoved ? move() : end(false)) });
    },
  });
  const feed = new CandleFeed(client, symbol, baseOf(interval), made(interval, chart));
  const references = new Map<Reference, CandleFeed>();
  const choose = (studies: ReadonlySet<string>) => {
    for (const { name } of REFERENCES) {
      const known = references.get(name);
      if (studies.has(name) === (known !== undefined)) continue;
      known?.close();
      references.delete(name);
      if (known !== undefined) continue;
      const added = referenceFeed(
        client,
        marketFeed,
        name,
        { symbol, interval },
        (points, isLast) => chart.showReference(name, points, isLast),
      );
      references.set(name, added);
      added.start();
    }
    chart.choose(studies);
  };
  const drawLines = () =>
    chart.drawLines(
      chartLinesOf(view, account.positions.get(), account.orders.get(), alerts.list.get()),
    );
  const drawFills = () => {
    const fills = account.fills.get();
    if (fills === undefined) chart.drawFills([]);
    else chart.drawFills(fillMarks(fills, symbol, interval, chart.oldestTime));
  };
  const draw = () => chart.draw(drawings.list.get().filter((each) => each.symbol === symbol));
  feed.start();
  drawLines();
  draw();
  const applyColours = () => {
    chart.applyColours(readColours());
    feed.redraw(0);
    drawLines();
    drawFills();
  };
  // The font size depends on the width.
  const applyColoursSoon = () => onNextFrame(applyColours);
  window.addEventListener("resize", applyColoursSoon);
  const stops = [
    () => window.removeEventListener("resize", applyColoursSoon),
    () => forgetFrame(applyColours),
    theme.watch(applyColours),
    account.positions.watch(drawLines),
    account.orders.watch(drawLines),
    alerts.list.watch(drawLines),
    drawings.list.watch(draw),
    account.fills.watch(drawFills),
    line.onReturn(() => {
      for (const each of [feed, ...references.values()]) each.reload();
    }),
    dragLines(parts.box, chart.surface()),
    () => {
      for (const each of [feed, ...references.values()]) each.close();
    },
    () => chart.remove(),
  ];
  return {
    choose,
    place: ({ kind, text }, onDone) =>
      chart.place(kind, text, (points) => {
        if (!drawings.add({ symbol, kind, points, text })) {
          terminal.toasts.show("bad", t.chart.notDrawn, t.chart.notDrawnText);
        }
        onDone();
      }),
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}

/** Moves an order to a price; resolves to whether the venue did so. */
async function amend(
  terminal: Terminal,
  view: MarketView,
  orderId: string,
  price: number,
): Promise<boolean> {
  const order = terminal.account.orders.get()?.get(orderId);
  const amendment = order === undefined ? undefined : amendmentOf(order, { price });
  if (order === undefined || amendment === undefined) return false;
  const { bestAsk, bestBid } = terminal.book.state.get()?.book ?? {};
  const isBuy = order.side === "long";
  const opposite = isBuy ? bestAsk?.[0] : bestBid?.[0];
  const wouldFill =
    order.status === "resting" &&
    opposite !== undefined &&
    (isBuy ? price >= opposite : price <= opposite);
  if (wouldFill) {
    const text = t.chart.notMovedText(priceText(view, price));
    terminal.toasts.show("info", t.chart.notMoved, text);
    return false;
  }
  return (
    (await terminal.attempt((session) => terminal.orders.amend(session, amendment))) === "done"
  );
}
