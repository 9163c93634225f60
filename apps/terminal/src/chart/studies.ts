/** Draws the chosen indicators, and keeps their values for the legend. */

import type { Candle } from "@perpgate/protocol";
import {
  type IChartApi,
  type ISeriesApi,
  LineSeries,
  LineStyle,
  type UTCTimestamp,
} from "lightweight-charts";
import type { Colours } from "../theme/theme.js";
import { INDICATORS, type Indicator, type IndicatorSteps, type Values } from "./indicators.js";
import type { LegendValue } from "./legend.js";
import { REFERENCES, type Reference } from "./study-names.js";

export interface Point {
  /** Unix milliseconds. */
  readonly time: number;
  readonly value: number;
}

interface Shown {
  readonly indicator: Indicator;
  readonly series: readonly ISeriesApi<"Line">[];
  steps: IndicatorSteps;
  /** By candle. */
  rows: Values[];
}

interface ShownReference {
  readonly series: ISeriesApi<"Line">;
  points: readonly Point[];
}

/** Of the height of the candles. */
const APART_PART = 0.3;
const QUIET = {
  lastValueVisible: false,
  priceLineVisible: false,
  crosshairMarkerVisible: false,
  lineWidth: 1,
} as const;

export class Studies {
  private readonly shown = new Map<string, Shown>();
  private readonly references = new Map<Reference, ShownReference>();
  private candles: readonly Candle[] = [];

  constructor(
    private readonly chart: IChartApi,
    private colours: Colours,
  ) {}

  choose(names: ReadonlySet<string>): void {
    for (const indicator of INDICATORS) {
      const known = this.shown.get(indicator.name);
      if (names.has(indicator.name) === (known !== undefined)) continue;
      if (known === undefined) this.begin(indicator);
      else this.end(known);
    }
    for (const { name } of REFERENCES) {
      const known = this.references.get(name);
      if (known === undefined || names.has(name)) continue;
      this.chart.removeSeries(known.series);
      this.references.delete(name);
    }
  }

  replaced(candles: readonly Candle[]): void {
    this.candles = candles;
    for (const shown of this.shown.values()) this.draw(shown);
    for (const reference of this.references.values()) this.drawReference(reference);
  }

  updated(candles: readonly Candle[], isNew: boolean): void {
    this.candles = candles;
    const last = candles.at(-1);
    if (last === undefined) return;
    for (const { steps, rows, series } of this.shown.values()) {
      const values = isNew ? steps.next(last) : steps.again(last);
      if (!isNew) rows.pop();
      rows.push(values);
      for (const [line, value] of values.entries()) {
        if (value !== undefined) series[line]?.update({ time: secondsOf(last.time), value });
      }
    }
  }

  /** `isLast`: only the last point is new or has changed. */
  showReference(name: Reference, points: readonly Point[], isLast: boolean): void {
    const known = this.references.get(name);
    const reference = known ?? { series: this.line(0), points };
    reference.points = points;
    this.references.set(name, reference);
    if (known === undefined) this.colour();
    const last = points.at(-1);
    if (!isLast || last === undefined) this.drawReference(reference);
    else reference.series.update({ time: secondsOf(last.time), value: last.value });
  }

  applyColours(colours: Colours): void {
    this.colours = colours;
    this.colour();
  }

  /** At a candle. */
  legend(at: number): LegendValue[] {
    const time = this.candles[at]?.time;
    const studies = [...this.shown.values()].flatMap(({ indicator, rows }) =>
      indicator.lines.map(({ label, tone }, line) => ({
        label,
        value: rows[at]?.[line],
        colour: this.colours[tone],
      })),
    );
    const references = REFERENCES.flatMap(({ name, label, tone }) => {
      const points = this.references.get(name)?.points;
      if (points === undefined) return [];
      const value = points.findLast((point) => point.time === time)?.value;
      return [{ label, value, colour: this.colours[tone] }];
    });
    return [...studies, ...references];
  }

  private begin(indicator: Indicator): void {
    const series = indicator.lines.map(() => this.line(indicator.isApart === true ? 1 : 0));
    const shown: Shown = { indicator, series, steps: indicator.begin(), rows: [] };
    this.shown.set(indicator.name, shown);
    if (indicator.isApart === true) this.chart.panes()[1]?.setStretchFactor(APART_PART);
    this.colour();
    this.draw(shown);
  }

  private end({ indicator, series }: Shown): void {
    for (const each of series) this.chart.removeSeries(each);
    this.shown.delete(indicator.name);
  }

  private line(pane: number): ISeriesApi<"Line"> {
    return this.chart.addSeries(LineSeries, QUIET, pane);
  }

  private draw(shown: Shown): void {
    shown.steps = shown.indicator.begin();
    shown.rows = this.candles.map((candle) => shown.steps.next(candle));
    for (const [line, series] of shown.series.entries()) {
      series.setData(
        this.candles.flatMap(({ time }, at) => {
          const value = shown.rows[at]?.[line];
          return value === undefined ? [] : [{ time: secondsOf(time), value }];
        }),
      );
    }
  }

  /** Points before the first candle would move it. */
  private drawReference({ series, points }: ShownReference): void {
    const begin = this.candles[0]?.time ?? Number.POSITIVE_INFINITY;
    const drawn = points.filter(({ time }) => time >= begin);
    series.setData(drawn.map(({ time, value }) => ({ time: secondsOf(time), value })));
  }

  private colour(): void {
    for (const { indicator, series } of this.shown.values()) {
      for (const [line, { tone }] of indicator.lines.entries()) {
        series[line]?.applyOptions({ color: this.colours[tone] });
      }
    }
    for (const { name, tone } of REFERENCES) {
      const options = { color: this.colours[tone], lineStyle: LineStyle.Dashed };
      this.references.get(name)?.series.applyOptions(options);
    }
  }
}

export function secondsOf(timeMs: number): UTCTimestamp {
  // The library's branded type for seconds.
  return (timeMs / 1_000) as UTCTimestamp;
}
