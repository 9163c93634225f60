/** The chart panel: candles with volume, studies and the trader's lines, or the depth chart. */

import { RESOLUTIONS, type Resolution } from "@perpgate/protocol/core";
import { Suspense, useState } from "react";
import { readPreference, writePreference } from "../state/preferences.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { Dialog } from "../ui/dialog.js";
import { later } from "../ui/later.js";
import { Segments } from "../ui/segments.js";
import { Tabs, tabPanel } from "../ui/tabs.js";
import { STUDIES } from "./study-names.js";
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
  const { alerts, dialog, marketFeed } = useTerminal();
  const view = useStore(marketFeed.current);
  const alertCount = useStore(alerts.list, (list) => list.length);
  const [tab, setTab] = useState<"candles" | "depth">("candles");
  const [resolution, setResolution] = useState<Resolution>(rememberedResolution);
  const [studies, setStudies] = useState(rememberedStudies);
  const [isChoosing, setChoosing] = useState(false);
  const toggle = (name: string) => {
    const next = new Set(studies);
    if (!next.delete(name)) next.add(name);
    writePreference("studies", [...next].join());
    setStudies(next);
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
              aria-haspopup="dialog"
              title="Be told when a price is reached"
              onClick={() => dialog.set("alerts")}
            >
              Alerts{alertCount === 0 ? "" : ` (${alertCount})`}
            </button>
            <button
              type="button"
              className="button small bare"
              aria-haspopup="dialog"
              title="Averages, bands, mark and index price"
              onClick={() => setChoosing(true)}
            >
              Studies{studies.size === 0 ? "" : ` (${studies.size})`}
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
              studies={studies}
            />
          )}
          {view !== undefined && tab === "depth" && (
            <DepthChart key={view.market.symbol} view={view} />
          )}
        </Suspense>
      </div>
      {isChoosing && (
        <Dialog title="Studies" onClose={() => setChoosing(false)}>
          <div className="dialog-body">
            {STUDIES.map(({ name, title }) => (
              <label className="check" key={name}>
                <input type="checkbox" checked={studies.has(name)} onChange={() => toggle(name)} />
                {title}
              </label>
            ))}
          </div>
        </Dialog>
      )}
    </section>
  );
}

function rememberedStudies(): ReadonlySet<string> {
  const stored = (readPreference("studies") ?? "").split(",");
  return new Set(STUDIES.map(({ name }) => name).filter((name) => stored.includes(name)));
}

function rememberedResolution(): Resolution {
  const stored = readPreference("resolution");
  return RESOLUTIONS.find((resolution) => resolution === stored) ?? "1m";
}
