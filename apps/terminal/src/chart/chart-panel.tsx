/** The chart panel: candles with volume, averages and the trader's lines, or the depth chart. */

import { RESOLUTIONS, type Resolution } from "@perpgate/protocol/core";
import { Suspense, useState } from "react";
import { readPreference, writePreference } from "../state/preferences.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { later } from "../ui/later.js";
import { Segments } from "../ui/segments.js";
import { Tabs, tabPanel } from "../ui/tabs.js";
import "./chart-panel.css";

const Candles = later(() => import("./candles.js"));
const DepthChart = later(() => import("../book/depth-chart.js"));

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
  const [hasAverages, setAverages] = useState(() => readPreference("averages") === "on");
  const toggleAverages = () => {
    writePreference("averages", hasAverages ? "off" : "on");
    setAverages(!hasAverages);
  };
  const choose = (next: Resolution) => {
    writePreference("resolution", next);
    setResolution(next);
  };
  return (
    <section className="panel chart" aria-label="Chart">
      <div className="panel-head">
        <Tabs label="Chart" tabs={TABS} selected={tab} panelId={PANEL} onSelect={setTab} />
        {tab === "candles" && (
          <div className="chart-choices">
            <button
              type="button"
              className="button small bare"
              aria-pressed={hasAverages}
              title="Moving averages of 7 and 25 candles"
              onClick={toggleAverages}
            >
              MA
            </button>
            <Segments
              legend="Candle length"
              name="resolution"
              className="resolutions"
              options={RESOLUTION_OPTIONS}
              selected={resolution}
              onSelect={choose}
            />
          </div>
        )}
      </div>
      <div className="panel-body chart-body" {...tabPanel(PANEL, tab)}>
        <Suspense>
          {view !== undefined && tab === "candles" && (
            <Candles
              key={`${view.market.symbol} ${resolution}`}
              view={view}
              resolution={resolution}
              hasAverages={hasAverages}
            />
          )}
          {view !== undefined && tab === "depth" && (
            <DepthChart key={view.market.symbol} view={view} />
          )}
        </Suspense>
      </div>
    </section>
  );
}

function rememberedResolution(): Resolution {
  const stored = readPreference("resolution");
  return RESOLUTIONS.find((resolution) => resolution === stored) ?? "1m";
}
