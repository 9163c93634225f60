/** The line of PnL or equity, by the library of the candles. */

import type { EquityPoint } from "@perpgate/sdk";
import {
  createChart,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  LineSeries,
} from "lightweight-charts";
import { chartOptions } from "../chart/chart-options.js";
import { secondsOf } from "../chart/studies.js";
import { formatDollars } from "../format/numbers.js";
import type { Colours } from "../theme/theme.js";

export type EquityFigure = "pnl" | "equity";

export class EquityChart {
  private readonly chart: IChartApi;
  private readonly series: ISeriesApi<"Line">;
  /** Where it began. */
  private readonly begin: IPriceLine;

  constructor(box: HTMLElement, colours: Colours) {
    this.chart = createChart(box, { autoSize: true, ...chartOptions(colours) });
    this.series = this.chart.addSeries(LineSeries, {
      lineWidth: 2,
      priceFormat: { type: "custom", formatter: formatDollars, minMove: 0.01 },
    });
    this.begin = this.series.createPriceLine({ price: 0, lineWidth: 1, axisLabelVisible: false });
    this.applyColours(colours);
  }

  show(points: readonly EquityPoint[], figure: EquityFigure): void {
    const price = figure === "pnl" ? 0 : (points[0]?.equity ?? 0);
    this.begin.applyOptions({ price });
    this.series.setData(
      points.map((point) => ({ time: secondsOf(point.time), value: point[figure] })),
    );
    this.chart.timeScale().fitContent();
  }

  applyColours(colours: Colours): void {
    this.chart.applyOptions(chartOptions(colours));
    this.series.applyOptions({ color: colours.accent });
    this.begin.applyOptions({ color: colours["text-faint"] });
  }

  remove(): void {
    this.chart.remove();
  }
}
