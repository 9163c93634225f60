/** Equity and PnL of the account over time, as the SDK derives them from the account's own lists. */

import { type EquityHistory, equityHistory, type Resolution } from "@perpgate/sdk";
import { useEffect, useRef, useState } from "react";
import { formatDollars, formatSigned, toneOf } from "../format/numbers.js";
import { formatClock, formatDayAndClock } from "../format/text.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { readColours, theme } from "../theme/theme.js";
import { Fact } from "../ui/fact.js";
import { saveFile } from "../ui/save-file.js";
import { Segments } from "../ui/segments.js";
import { Refresher } from "../venue/refresher.js";
import { csvOf } from "./csv.js";
import { LoadingRows } from "./data-table.js";
import { EquityChart, type EquityFigure } from "./equity-chart.js";

const SPANS = ["day", "week", "month", "year"] as const;
type SpanName = (typeof SPANS)[number];

interface Span {
  readonly resolution: Resolution;
  readonly limit: number;
}

const READ: Readonly<Record<SpanName, Span>> = {
  day: { resolution: "5m", limit: 288 },
  week: { resolution: "1h", limit: 168 },
  month: { resolution: "1h", limit: 720 },
  year: { resolution: "1d", limit: 365 },
};

const FIGURES = ["pnl", "equity"] as const;

/** The marks move without a change of the account. */
const AGAIN_MS = 60_000;
const CHANGES_MS = 5_000;

export function EquityPanel() {
  const [span, setSpan] = useState<SpanName>("day");
  const [figure, setFigure] = useState<EquityFigure>("pnl");
  const history = useHistory(span);
  const save = () => saveFile(`equity-${span}.csv`, csvOf(history?.points ?? []));
  return (
    <>
      <div className="table-bar start">
        <Segments
          legend={t.history.spansLabel}
          name="equity-span"
          className="compact"
          options={SPANS}
          labels={t.history.spans}
          selected={span}
          onSelect={setSpan}
        />
        <Segments
          legend={t.history.figuresLabel}
          name="equity-figure"
          className="compact"
          options={FIGURES}
          labels={t.history.figures}
          selected={figure}
          onSelect={setFigure}
        />
        <button
          type="button"
          className="button small"
          aria-label={t.history.saveEquity}
          disabled={history === undefined}
          onClick={save}
        >
          CSV
        </button>
      </div>
      {history === undefined ? (
        <LoadingRows />
      ) : (
        <Shown history={history} figure={figure} every={t.history.every[span]} />
      )}
    </>
  );
}

function useHistory(span: SpanName): EquityHistory | undefined {
  const terminal = useTerminal();
  const [read, setRead] = useState<{ readonly span: SpanName; readonly history: EquityHistory }>();
  useEffect(() => {
    const leaving = new AbortController();
    const { client, sessions, account, line } = terminal;
    const refresher = new Refresher(
      async () => {
        const { session } = sessions;
        if (session === undefined) return;
        const { resolution, limit } = READ[span];
        const { signal } = leaving;
        const history = await equityHistory(client, session, { resolution, limit, signal });
        if (!signal.aborted) setRead({ span, history });
      },
      { afterMs: CHANGES_MS },
    );
    void refresher.now();
    const soon = () => refresher.soon();
    const timer = setInterval(soon, AGAIN_MS);
    const stops = [account.account.watch(soon), line.onReturn(soon)];
    return () => {
      leaving.abort();
      refresher.close();
      clearInterval(timer);
      for (const stop of stops) stop();
    };
  }, [terminal, span]);
  return read?.span === span ? read.history : undefined;
}

interface ShownProps {
  readonly history: EquityHistory;
  readonly figure: EquityFigure;
  readonly every: string;
}

function Shown({ history: { points, isCut }, figure, every }: ShownProps) {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return null;
  return (
    <div className="equity">
      <dl className="facts" aria-label={t.history.equityLabel}>
        <Fact label={t.words.equity} testId="equity-now">
          {formatDollars(last.equity)}
        </Fact>
        <Fact label={t.words.pnl} testId="equity-pnl" className={toneOf(last.pnl, 2)}>
          {formatSigned(last.pnl, 2)}
        </Fact>
        <Fact label={t.history.from} testId="equity-from">
          {formatDayAndClock(first.time)}
        </Fact>
        <Fact label={t.history.readAt}>{formatClock(last.time)}</Fact>
      </dl>
      <Chart points={points} figure={figure} />
      <p className="faint">
        {t.history.equityText(every)}
        {isCut && ` ${t.history.equityCut}`}
      </p>
    </div>
  );
}

interface ChartProps {
  readonly points: EquityHistory["points"];
  readonly figure: EquityFigure;
}

function Chart({ points, figure }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<EquityChart>(undefined);
  useEffect(() => {
    if (box.current === null) return;
    const drawn = new EquityChart(box.current, readColours());
    chart.current = drawn;
    const stop = theme.watch(() => drawn.applyColours(readColours()));
    return () => {
      stop();
      drawn.remove();
    };
  }, []);
  useEffect(() => chart.current?.show(points, figure), [points, figure]);
  const bound = (of: typeof Math.min) => formatDollars(of(...points.map((point) => point[figure])));
  return (
    <div
      className="equity-chart"
      ref={box}
      role="img"
      aria-label={t.history.overTime(t.history.figures[figure], bound(Math.min), bound(Math.max))}
    />
  );
}
