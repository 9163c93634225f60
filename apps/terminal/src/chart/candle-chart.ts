/**
 * The candle chart, by TradingView's Lightweight Charts, with volume, indicators, the trader's fills, lines
 * and drawings. Its logo needs an inline style, which the content security policy forbids; the
 * attribution is in the page's footer.
 */

import type { Candle } from "@perpgate/protocol";
import { fromSteps } from "@perpgate/protocol/core";
import {
  type AutoscaleInfo,
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  type MouseEventParams,
  type Time,
} from "lightweight-charts";
import { formatCompact } from "../format/numbers.js";
import type { Colours } from "../theme/theme.js";
import type { CandleListener } from "../venue/candle-feed.js";
import type { MarketView } from "../venue/market-view.js";
import type { ChartLine } from "./chart-lines.js";
import { chartOptions } from "./chart-options.js";
import { DrawingLayer } from "./drawing-layer.js";
import { type Drawing, type DrawingKind, type DrawnPoint, pointsOf } from "./drawings.js";
import type { FillMark } from "./fill-markers.js";
import type { Legend } from "./legend.js";
import type { DragSurface } from "./line-drag.js";
import { PriceLines, withPrices } from "./price-lines.js";
import { type Point, Studies, secondsOf } from "./studies.js";
import type { Reference } from "./study-names.js";

const OLDER_WITHIN_BARS = 30;

interface ChartCallbacks {
  readonly onNeedOlder: () => void;
  readonly onCount: (count: number) => void;
  /** The time of the market's first candle, once it is loaded. */
  readonly onBegin: (time: number | undefined) => void;
  /** An order's line was dropped at a price. */
  readonly onDrop: (orderId: string, price: number, isTouch: boolean) => void;
}

/** More begin with the newest ones. */
const FITTED_BARS = 150;

interface Shown {
  readonly view: MarketView;
  /** Milliseconds of a candle. */
  readonly stepMs: number;
}

export class CandleChart implements CandleListener {
  private readonly chart: IChartApi;
  private readonly series: ISeriesApi<"Candlestick">;
  private readonly volumes: ISeriesApi<"Histogram">;
  private readonly studies: Studies;
  private readonly markers: ISeriesMarkersPluginApi<Time>;
  private candles: readonly Candle[] = [];
  private readonly lines: PriceLines;
  private readonly drawings: DrawingLayer;
  private readonly view: MarketView;
  private readonly stepMs: number;
  private pointedTime: number | undefined;

  private isFitted = false;

  constructor(
    box: HTMLElement,
    { view, stepMs }: Shown,
    private colours: Colours,
    private readonly legend: Legend,
    private readonly callbacks: ChartCallbacks,
  ) {
    this.view = view;
    this.stepMs = stepMs;
    this.chart = createChart(box, { autoSize: true, ...chartOptions(colours) });
    const { tickSize } = view.market;
    this.series = this.chart.addSeries(CandlestickSeries, {
      priceFormat: { type: "price", precision: view.priceDigits, minMove: tickSize },
      autoscaleInfoProvider: (base: () => AutoscaleInfo | null) =>
        withPrices(base(), this.lines.near(this.candles.at(-1)?.close ?? 0)),
    });
    this.lines = new PriceLines(this.series);
    this.drawings = new DrawingLayer(view.priceDigits, colours);
    this.series.attachPrimitive(this.drawings);
    this.volumes = this.chart.addSeries(HistogramSeries, {
      lastValueVisible: false,
      priceLineVisible: false,
      priceFormat: { type: "volume" },
      priceScaleId: "volume",
    });
    this.studies = new Studies(this.chart, colours);
    this.markers = createSeriesMarkers(this.series, []);
    this.volumes.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } });
    this.series.priceScale().applyOptions({ scaleMargins: { top: 0.12, bottom: 0.22 } });
    this.chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
      if (range !== null && range.from < OLDER_WITHIN_BARS) callbacks.onNeedOlder();
    });
    this.chart.subscribeCrosshairMove(({ time }) => {
      this.pointedTime = time === undefined ? undefined : Number(time) * 1_000;
      this.writeLegend();
    });
    this.applyColours(colours);
  }

  /** Of the oldest shown candle, in milliseconds. */
  get oldestTime(): number {
    return this.candles[0]?.time ?? Number.POSITIVE_INFINITY;
  }

  replaced(candles: readonly Candle[], added: number, isComplete: boolean): void {
    const timeScale = this.chart.timeScale();
    const range = timeScale.getVisibleLogicalRange();
    this.candles = candles;
    this.series.setData(candles.map(barOf));
    this.volumes.setData(candles.map((candle) => this.volumeOf(candle)));
    this.studies.replaced(candles);
    this.setTimes();
    // Keeps the visible range in place although candles were prepended.
    if (added > 0 && range !== null) {
      timeScale.setVisibleLogicalRange({ from: range.from + added, to: range.to + added });
    }
    // A young market fills the panel.
    if (!this.isFitted && candles.length > 0 && candles.length < FITTED_BARS)
      timeScale.fitContent();
    this.isFitted ||= candles.length > 0;
    this.writeLegend();
    this.callbacks.onCount(candles.length);
    this.callbacks.onBegin(isComplete ? candles[0]?.time : undefined);
  }

  updated(candle: Candle): void {
    const isNew = this.candles.at(-1)?.time !== candle.time;
    this.candles = isNew ? [...this.candles, candle] : this.candles.with(-1, candle);
    this.series.update(barOf(candle));
    this.volumes.update(this.volumeOf(candle));
    this.studies.updated(this.candles, isNew);
    if (isNew) this.setTimes();
    this.writeLegend();
    this.callbacks.onCount(1);
  }

  applyColours(colours: Colours): void {
    this.colours = colours;
    this.chart.applyOptions(chartOptions(colours));
    this.series.applyOptions({
      upColor: colours.long,
      downColor: colours.short,
      borderVisible: false,
      wickUpColor: colours.long,
      wickDownColor: colours.short,
    });
    this.studies.applyColours(colours);
    this.drawings.applyColours(colours);
    this.lines.forget();
  }

  /** Names of indicators and of reference prices. */
  choose(names: ReadonlySet<string>): void {
    this.studies.choose(names);
    this.writeLegend();
  }

  showReference(name: Reference, points: readonly Point[], isLast: boolean): void {
    this.studies.showReference(name, points, isLast);
    this.writeLegend();
  }

  drawFills(marks: readonly FillMark[]): void {
    this.markers.setMarkers(
      marks.map(({ time, side, size }) => ({
        time: secondsOf(time),
        position: side === "long" ? "belowBar" : "aboveBar",
        shape: side === "long" ? "arrowUp" : "arrowDown",
        color: this.colours[side],
        text: formatCompact(size),
      })),
    );
  }

  drawLines(lines: readonly ChartLine[]): void {
    this.lines.draw(lines, this.colours);
  }

  draw(drawings: readonly Drawing[]): void {
    this.drawings.show(drawings);
  }

  /** The next presses are the points of a drawing. Returns a function that gives up. */
  place(
    kind: DrawingKind,
    text: string,
    onPlaced: (points: readonly DrawnPoint[]) => void,
  ): () => void {
    let points: readonly DrawnPoint[] = [];
    const pointAt = ({ point, paneIndex = 0 }: MouseEventParams): DrawnPoint | undefined => {
      if (point === undefined || paneIndex !== 0) return undefined;
      const time = this.drawings.timeAt(point.x);
      const price = this.priceAt(point.y);
      return time === undefined || price === null ? undefined : { time, price };
    };
    const follow = (event: MouseEventParams) => {
      const under = pointAt(event);
      const next = under === undefined ? points : [...points, under];
      this.drawings.showUnfinished({ kind, points: next, text });
    };
    const press = (event: MouseEventParams) => {
      const point = pointAt(event);
      if (point === undefined) return;
      points = [...points, point];
      if (points.length === pointsOf(kind)) onPlaced(points);
    };
    this.chart.subscribeCrosshairMove(follow);
    this.chart.subscribeClick(press);
    return () => {
      this.chart.unsubscribeCrosshairMove(follow);
      this.chart.unsubscribeClick(press);
      this.drawings.showUnfinished(undefined);
    };
  }

  forgetLines(): void {
    this.lines.forget();
  }

  surface(): DragSurface {
    return {
      targets: () => this.lines.targets(),
      yOf: (price) => this.series.priceToCoordinate(price),
      priceAt: (y) => this.priceAt(y),
      setScrolling: (isOn) => this.chart.applyOptions({ handleScroll: isOn, handleScale: isOn }),
      move: (id, price) => this.lines.move(id, price),
      drop: (id, price, isTouch) => this.callbacks.onDrop(id, price, isTouch),
      axisX: () => this.chart.timeScale().width(),
    };
  }

  remove(): void {
    this.chart.remove();
  }

  private priceAt(y: number): number | null {
    const { tick } = this.view.units;
    const price = this.series.coordinateToPrice(y);
    const ticks = price === null ? 0 : Math.round(price / tick.size);
    return ticks > 0 ? fromSteps(ticks, tick) : null;
  }

  private setTimes(): void {
    const [first = 0, last = 0] = [this.candles[0]?.time, this.candles.at(-1)?.time];
    this.drawings.setTimes({ first, last, stepMs: this.stepMs });
  }

  private writeLegend(): void {
    const at = this.candles.findLastIndex(({ time }) => time === this.pointedTime);
    const shown = at < 0 ? this.candles.length - 1 : at;
    this.legend.show(this.candles[shown], this.studies.legend(shown));
  }

  private volumeOf(candle: Candle) {
    const tone = candle.close >= candle.open ? "long-hint" : "short-hint";
    return { time: secondsOf(candle.time), value: candle.volume, color: this.colours[tone] };
  }
}

function barOf({ time, open, high, low, close }: Candle) {
  return { time: secondsOf(time), open, high, low, close };
}
