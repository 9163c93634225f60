/** The trader's lines on the chart, drawn again only if they changed. */

import { type IPriceLine, type ISeriesApi, LineStyle } from "lightweight-charts";
import type { Colours } from "../theme/theme.js";
import type { ChartLine } from "./chart-lines.js";
import type { DragTarget } from "./line-drag.js";

/** Orders this close to the last price are kept in view: 1 %. */
const IN_VIEW = 0.01;

export class PriceLines {
  private lines: readonly ChartLine[] = [];
  private readonly drawn = new Map<ChartLine, IPriceLine>();
  private shown = "";

  constructor(private readonly series: ISeriesApi<"Candlestick">) {}

  draw(lines: readonly ChartLine[], colours: Colours): void {
    const key = JSON.stringify(lines);
    if (key === this.shown) return;
    this.shown = key;
    for (const line of this.drawn.values()) this.series.removePriceLine(line);
    this.drawn.clear();
    this.lines = lines;
    for (const line of lines) {
      const { price, title, tone, orderId } = line;
      const options = {
        price,
        // Its handle.
        title: orderId === undefined ? title : `↕ ${title}`,
        color: colours[tone],
        lineWidth: 1,
        lineStyle: LineStyle.Dashed,
        axisLabelVisible: true,
      } as const;
      this.drawn.set(line, this.series.createPriceLine(options));
    }
  }

  /** The next `draw` draws them in any case. */
  forget(): void {
    this.shown = "";
  }

  /** Shows an order's line elsewhere, until the next `draw`. */
  move(id: string, price: number): void {
    const line = this.lines.find(({ orderId }) => orderId === id);
    if (line !== undefined) this.drawn.get(line)?.applyOptions({ price });
  }

  /** The lines of orders. */
  targets(): readonly DragTarget[] {
    return this.lines.flatMap(({ orderId, price }) =>
      orderId === undefined ? [] : [{ id: orderId, price }],
    );
  }

  /** Prices of orders that the scale includes. */
  near(lastPrice: number): number[] {
    return this.targets()
      .map(({ price }) => price)
      .filter((price) => Math.abs(price / lastPrice - 1) <= IN_VIEW);
  }
}

interface ScaleInfo {
  readonly priceRange: { minValue: number; maxValue: number } | null;
}

/** The range of a scale, extended to these prices. */
export function withPrices<Info extends ScaleInfo>(
  info: Info | null,
  prices: readonly number[],
): Info | null {
  if (info === null || info.priceRange === null || prices.length === 0) return info;
  const { minValue, maxValue } = info.priceRange;
  const priceRange = {
    minValue: Math.min(minValue, ...prices),
    maxValue: Math.max(maxValue, ...prices),
  };
  return { ...info, priceRange };
}
