/** The chart panel: candles with volume, studies and the trader's lines, or the depth chart. */

import { RESOLUTIONS } from "@perpgate/protocol/core";
import { Suspense, useCallback, useState } from "react";
import { readPreference, writePreference } from "../state/preferences.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { Dialog } from "../ui/dialog.js";
import { later } from "../ui/later.js";
import { Segments } from "../ui/segments.js";
import { Tabs, tabPanel } from "../ui/tabs.js";
import type { Placing } from "./candles.js";
import { INTERVALS, type Interval, MADE_INTERVALS, stepMsOf } from "./intervals.js";
import { STUDIES } from "./study-names.js";
import "./chart-panel.css";

const Candles = later(() => import("./candles.js"));
const DepthChart = later(() => import("../book/depth-chart.js"));
const DrawingsDialog = later(() => import("./drawings-dialog.js"));

const TABS = ["candles", "depth"] as const;
/** In one press; the others are in a list next to them. */
const QUICK: readonly Interval[] = RESOLUTIONS;
/** A line that is typed begins that many candles ago. */
const BACK_CANDLES = 50;
const PANEL = "chart-panel";

export function ChartPanel() {
  const { alerts, dialog, drawings, marketFeed } = useTerminal();
  const view = useStore(marketFeed.current);
  const alertCount = useStore(alerts.list, (list) => list.length);
  const [tab, setTab] = useState<(typeof TABS)[number]>("candles");
  const drawn = useStore(
    drawings.list,
    (list) => list.filter(({ symbol }) => symbol === view?.market.symbol).length,
  );
  const [interval, setShownInterval] = useState<Interval>(rememberedInterval);
  const [isDrawing, setDrawing] = useState(false);
  const [placing, setPlacing] = useState<Placing>();
  const endPlacing = useCallback(() => setPlacing(undefined), []);
  const [studies, setStudies] = useState(rememberedStudies);
  const [isChoosing, setChoosing] = useState(false);
  const tabs = TABS.map((name) => ({ name, label: t.chart.tabs[name] }));
  const toggle = (name: string) => {
    const next = new Set(studies);
    if (!next.delete(name)) next.add(name);
    writePreference("studies", [...next].join());
    setStudies(next);
  };
  const choose = (next: Interval) => {
    writePreference("resolution", next);
    setShownInterval(next);
  };
  return (
    <section className="panel chart" aria-label={t.chart.title}>
      <div className="panel-head">
        <Tabs label={t.chart.title} tabs={tabs} selected={tab} panelId={PANEL} onSelect={setTab} />
        {tab === "candles" && (
          <div className="chart-choices">
            <button
              type="button"
              className="button small bare"
              aria-haspopup="dialog"
              title={t.chart.alertsTitle}
              onClick={() => dialog.set("alerts")}
            >
              {t.chart.alerts}
              {alertCount === 0 ? "" : ` (${alertCount})`}
            </button>
            <button
              type="button"
              className="button small bare"
              aria-haspopup="dialog"
              title={t.chart.studiesTitle}
              onClick={() => setChoosing(true)}
            >
              {t.chart.studies}
              {studies.size === 0 ? "" : ` (${studies.size})`}
            </button>
            <button
              type="button"
              className="button small bare"
              aria-haspopup="dialog"
              title={t.chart.drawTitle}
              onClick={() => setDrawing(true)}
            >
              {t.chart.draw}
              {drawn === 0 ? "" : ` (${drawn})`}
            </button>
            <Segments
              legend={t.chart.intervals}
              name="resolution"
              className="resolutions"
              options={QUICK}
              selected={interval}
              onSelect={choose}
            />
            <select
              className="choice"
              aria-label={t.chart.otherIntervals}
              value={MADE_INTERVALS.find((each) => each === interval) ?? ""}
              onChange={({ target }) => choose(intervalIn(target.value) ?? interval)}
            >
              <option value="">…</option>
              {MADE_INTERVALS.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </div>
        )}
      </div>
      <div className="panel-body chart-body" {...tabPanel(PANEL, tab)}>
        <Suspense>
          {view !== undefined && tab === "candles" && (
            <Candles
              key={`${view.market.symbol} ${interval}`}
              view={view}
              interval={interval}
              studies={studies}
              placing={placing}
              onPlaced={endPlacing}
            />
          )}
          {view !== undefined && tab === "depth" && (
            <DepthChart key={view.market.symbol} view={view} />
          )}
        </Suspense>
      </div>
      {isDrawing && view !== undefined && (
        <Suspense>
          <DrawingsDialog
            view={view}
            backMs={BACK_CANDLES * stepMsOf(interval)}
            onPlace={(next) => {
              setDrawing(false);
              setPlacing(next);
            }}
            onClose={() => setDrawing(false)}
          />
        </Suspense>
      )}
      {isChoosing && (
        <Dialog title={t.chart.studies} onClose={() => setChoosing(false)}>
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

function rememberedInterval(): Interval {
  return intervalIn(readPreference("resolution")) ?? "1m";
}

function intervalIn(text: string | undefined): Interval | undefined {
  return INTERVALS.find((interval) => interval === text);
}
