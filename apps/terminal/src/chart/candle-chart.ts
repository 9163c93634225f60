/**
 * The candle chart, by TradingView's Lightweight Charts, with the trader's lines (entry, liquidation,
 * open orders). Its logo needs an inline style, which the content security policy forbids; the
 * attribution is in the page's footer.
 */

import type { Candle } from "@perpgate/protocol";
import {
  CandlestickSeries,
  ColorType,
  createChart,
  HistogramSeries,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  LineStyle,
  TickMarkType,
  type Time,
  type UTCTimestamp,
} from "lightweight-charts";
import type { Colours } from "../theme/theme.js";
import type { CandleListener } from "../venue/candle-feed.js";
import type { MarketView } from "../venue/market-view.js";

export interface ChartLine {
  readonly price: number;
  readonly title: string;
  readonly tone: "accent" | "long" | "short" | "warn";
}

const OLDER_WITHIN_BARS = 30;

export class CandleChart implements CandleListener {
  private readonly chart: IChartApi;
  private readonly candles: ISeriesApi<"Candlestick">;
  private readonly volumes: ISeriesApi<"Histogram">;
  private lines: IPriceLine[] = [];
  private shownLines = "";

  constructor(
    box: HTMLElement,
    view: MarketView,
    private colours: Colours,
    private readonly onNeedOlder: () => void,
    private readonly onCount: (count: number) => void,
  ) {
    this.chart = createChart(box, { autoSize: true, ...chartOptions(colours) });
    this.candles = this.chart.addSeries(CandlestickSeries, {
      priceFormat: {
        type: "price",
        precision: view.priceDigits,
        minMove: view.market.tickSize,
      },
    });
    this.volumes = this.chart.addSeries(HistogramSeries, {
      priceFormat: { type: "volume" },
      priceScaleId: "volume",
      lastValueVisible: false,
      priceLineVisible: false,
    });
    this.volumes.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } });
    this.candles.priceScale().applyOptions({ scaleMargins: { top: 0.08, bottom: 0.22 } });
    this.chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
      if (range !== null && range.from < OLDER_WITHIN_BARS) this.onNeedOlder();
    });
    this.applyColours(colours);
  }

  replaced(candles: readonly Candle[], added: number): void {
    const timeScale = this.chart.timeScale();
    const range = timeScale.getVisibleLogicalRange();
    this.candles.setData(candles.map(barOf));
    this.volumes.setData(candles.map((candle) => this.volumeOf(candle)));
    // Keeps the visible range in place although candles were prepended.
    if (added > 0 && range !== null) {
      timeScale.setVisibleLogicalRange({ from: range.from + added, to: range.to + added });
    }
    this.onCount(candles.length);
  }

  updated(candle: Candle): void {
    this.candles.update(barOf(candle));
    this.volumes.update(this.volumeOf(candle));
    this.onCount(1);
  }

  applyColours(colours: Colours): void {
    this.colours = colours;
    this.chart.applyOptions(chartOptions(colours));
    this.candles.applyOptions({
      upColor: colours.long,
      downColor: colours.short,
      borderVisible: false,
      wickUpColor: colours.long,
      wickDownColor: colours.short,
    });
    this.shownLines = "";
  }

  /** Replaces the trader's lines if they changed. */
  drawLines(lines: readonly ChartLine[]): void {
    const key = JSON.stringify(lines);
    if (key === this.shownLines) return;
    this.shownLines = key;
    for (const line of this.lines) this.candles.removePriceLine(line);
    this.lines = lines.map(({ price, title, tone }) =>
      this.candles.createPriceLine({
        price,
        title,
        color: this.colours[tone],
        lineWidth: 1,
        lineStyle: LineStyle.Dashed,
        axisLabelVisible: true,
      }),
    );
  }

  remove(): void {
    this.chart.remove();
  }

  private volumeOf(candle: Candle) {
    const tone = candle.close >= candle.open ? "long-hint" : "short-hint";
    return { time: secondsOf(candle.time), value: candle.volume, color: this.colours[tone] };
  }
}

function barOf({ time, open, high, low, close }: Candle) {
  return { time: secondsOf(time), open, high, low, close };
}

function secondsOf(timeMs: number): UTCTimestamp {
  // The library's branded type for seconds.
  return (timeMs / 1_000) as UTCTimestamp;
}

function chartOptions(colours: Colours) {
  return {
    layout: {
      background: { type: ColorType.Solid, color: colours.surface },
      textColor: colours["text-soft"],
      fontFamily: getComputedStyle(document.body).fontFamily,
      fontSize: Number.parseFloat(getComputedStyle(document.documentElement).fontSize) * 0.6875,
      attributionLogo: false,
    },
    grid: { vertLines: { color: colours.line }, horzLines: { color: colours.line } },
    crosshair: { mode: 0 },
    rightPriceScale: { borderColor: colours.line },
    timeScale: {
      borderColor: colours.line,
      timeVisible: true,
      secondsVisible: false,
      rightOffset: 4,
      tickMarkFormatter: formatTickMark,
    },
    localization: { locale: "en-GB", timeFormatter: formatCrosshairTime },
  };
}

const MARK_FORMATS: Readonly<Record<TickMarkType, Intl.DateTimeFormat>> = {
  [TickMarkType.Year]: new Intl.DateTimeFormat("en-GB", { year: "numeric" }),
  [TickMarkType.Month]: new Intl.DateTimeFormat("en-GB", { month: "short" }),
  [TickMarkType.DayOfMonth]: new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" }),
  [TickMarkType.Time]: new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" }),
  [TickMarkType.TimeWithSeconds]: new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  }),
};
const CROSSHAIR = new Intl.DateTimeFormat("en-GB", {
  day: "2-digit",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** In the local time zone; the library's default is UTC. */
function formatTickMark(time: Time, type: TickMarkType): string {
  return MARK_FORMATS[type].format(Number(time) * 1_000);
}

function formatCrosshairTime(time: Time): string {
  return CROSSHAIR.format(Number(time) * 1_000);
}
