/** The chart panel: candles with volume and the trader's lines, or the depth chart. */

import type { Order, Position } from "@perpgate/protocol";
import { RESOLUTIONS, type Resolution } from "@perpgate/protocol/core";
import { useEffect, useRef, useState } from "react";
import { DepthChart } from "../book/depth-chart.js";
import { forgetFrame, onNextFrame } from "../state/frame.js";
import { readPreference, writePreference } from "../state/preferences.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { readColours, theme } from "../theme/theme.js";
import { Segments } from "../ui/segments.js";
import { Tabs, tabPanel } from "../ui/tabs.js";
import { CandleFeed } from "../venue/candle-feed.js";
import type { MarketView } from "../venue/market-view.js";
import { CandleChart, type ChartLine } from "./candle-chart.js";
import "./chart-panel.css";

const TABS = [
  { name: "candles", label: "Chart" },
  { name: "depth", label: "Depth" },
] as const;
const RESOLUTION_OPTIONS = RESOLUTIONS.map((resolution) => [resolution, resolution] as const);
const PANEL = "chart-panel";

export function ChartPanel() {
  const { marketFeed } = useTerminal();
  const view = useStore(marketFeed.current);
  const [tab, setTab] = useState<"candles" | "depth">("candles");
  const [resolution, setResolution] = useState<Resolution>(rememberedResolution);
  const choose = (next: Resolution) => {
    writePreference("resolution", next);
    setResolution(next);
  };
  return (
    <section className="panel chart" aria-label="Chart">
      <div className="panel-head">
        <Tabs label="Chart" tabs={TABS} selected={tab} panelId={PANEL} onSelect={setTab} />
        {tab === "candles" && (
          <Segments
            legend="Candle length"
            name="resolution"
            className="resolutions"
            options={RESOLUTION_OPTIONS}
            selected={resolution}
            onSelect={choose}
          />
        )}
      </div>
      <div className="panel-body chart-body" {...tabPanel(PANEL, tab)}>
        {view !== undefined && tab === "candles" && (
          <Candles
            key={`${view.market.symbol} ${resolution}`}
            view={view}
            resolution={resolution}
          />
        )}
        {view !== undefined && tab === "depth" && (
          <DepthChart key={view.market.symbol} view={view} />
        )}
      </div>
    </section>
  );
}

function rememberedResolution(): Resolution {
  const stored = readPreference("resolution");
  return RESOLUTIONS.find((resolution) => resolution === stored) ?? "1m";
}

interface CandlesProps {
  readonly view: MarketView;
  readonly resolution: Resolution;
}

function Candles({ view, resolution }: CandlesProps) {
  const { client, connection, account } = useTerminal();
  const box = useRef<HTMLDivElement>(null);
  const [count, setCount] = useState<number>();
  useEffect(() => {
    if (box.current === null) return;
    const chart = new CandleChart(
      box.current,
      view,
      readColours(),
      () => void feed.loadOlder(),
      (shown) => setCount((known) => (known === undefined || known === 0 ? shown : known)),
    );
    const feed = new CandleFeed(client, view.market.symbol, resolution, chart);
    const drawLines = () => {
      chart.drawLines(linesOf(view, account.positions.get(), account.orders.get()));
    };
    feed.start();
    drawLines();
    const applyColours = () => {
      chart.applyColours(readColours());
      feed.redraw(0);
      drawLines();
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
      connection.onReturn(() => feed.reload()),
    ];
    return () => {
      for (const stop of stops) stop();
      feed.close();
      chart.remove();
    };
  }, [client, connection, account, view, resolution]);
  return (
    <>
      <div
        className="candles"
        ref={box}
        role="img"
        aria-label={`${view.market.symbol} candles of ${resolution}`}
        aria-busy={count === undefined}
      />
      {count === 0 && <p className="empty over">No candles yet.</p>}
    </>
  );
}

function linesOf(
  { market }: MarketView,
  positions: ReadonlyMap<string, Position> | undefined,
  orders: ReadonlyMap<string, Order> | undefined,
): ChartLine[] {
  const lines: ChartLine[] = [];
  const position = positions?.get(market.symbol);
  if (position !== undefined) {
    const { avgEntry, liquidationPrice, side } = position;
    lines.push({ price: avgEntry, title: "Entry", tone: side });
    if (liquidationPrice !== null) {
      lines.push({ price: liquidationPrice, title: "Liq.", tone: "warn" });
    }
  }
  for (const { symbol, side, type, price } of orders?.values() ?? []) {
    if (symbol !== market.symbol || price === null) continue;
    const verb = side === "long" ? "Buy" : "Sell";
    lines.push({ price, title: type === "stop" ? `${verb} stop` : verb, tone: side });
  }
  return lines;
}
