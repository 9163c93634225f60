/**
 * The depth chart: cumulative size over price, drawn on a canvas five times a second, with a text
 * summary for screen readers.
 */

import { fromSteps } from "@perpgate/protocol/core";
import { useEffect, useRef, useState } from "react";
import { formatCompact, formatFixed } from "../format/numbers.js";
import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { type Colours, readColours, theme } from "../theme/theme.js";
import type { BookState } from "../venue/book-feed.js";
import type { MarketView } from "../venue/market-view.js";
import { type Curve, curveOf, depthRange } from "./depth-curve.js";
import { SortedLevels } from "./levels.js";

const REDRAW_MS = 200;
/** Height of the axis in pixels. */
const AXIS_HEIGHT = 22;

export default function DepthChart({ view }: { readonly view: MarketView }) {
  const { book } = useTerminal();
  const colours = useStore(theme);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [summary, setSummary] = useState("");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours change with the theme
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const picture = new DepthPicture(element, view, readColours());
    const draw = () => {
      const state = book.state.get();
      if (state?.symbol === view.market.symbol) setSummary(picture.draw(state));
    };
    const resize = new ResizeObserver(draw);
    resize.observe(element);
    const timer = setInterval(draw, REDRAW_MS);
    const point = (event: PointerEvent) => {
      picture.pointerX = event.type === "pointerleave" ? undefined : event.offsetX;
      draw();
    };
    element.addEventListener("pointermove", point);
    element.addEventListener("pointerleave", point);
    return () => {
      clearInterval(timer);
      resize.disconnect();
      element.removeEventListener("pointermove", point);
      element.removeEventListener("pointerleave", point);
    };
  }, [book, view, colours]);
  return (
    <div className="depth">
      <canvas ref={canvas} role="img" aria-label={t.book.depth(summary)} />
    </div>
  );
}

class DepthPicture {
  pointerX: number | undefined;
  private readonly bids = new SortedLevels();
  private readonly asks = new SortedLevels();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly view: MarketView,
    private readonly colours: Colours,
  ) {}

  /** Draws and returns the summary. */
  draw({ book }: BookState): string {
    const context = this.canvas.getContext("2d");
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (context === null || width === 0 || height === 0) return "";
    this.fit(context, width, height);
    const bids = this.bids.read(book, "bid");
    const asks = this.asks.read(book, "ask");
    const range = depthRange(bids, asks);
    if (range === undefined) return t.book.emptyDepth;
    const bidCurve = curveOf(bids, range.low);
    const askCurve = curveOf(asks, range.high);
    const top = Math.max(bidCurve.total, askCurve.total) * 1.08;
    const scale = {
      x: (ticks: number) => ((ticks - range.low) / (range.high - range.low)) * width,
      y: (lots: number) => (height - AXIS_HEIGHT) * (1 - lots / top),
    };
    this.drawCurve(context, bidCurve, scale, this.colours.long, this.colours["long-hint"]);
    this.drawCurve(context, askCurve, scale, this.colours.short, this.colours["short-hint"]);
    this.drawAxis(context, range, width, height);
    this.drawPointer(context, range, bidCurve, askCurve, scale, width, height);
    return this.summary(bidCurve, askCurve, range);
  }

  private fit(context: CanvasRenderingContext2D, width: number, height: number): void {
    const ratio = devicePixelRatio;
    const [pixelWidth, pixelHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== pixelWidth || this.canvas.height !== pixelHeight) {
      this.canvas.width = pixelWidth;
      this.canvas.height = pixelHeight;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    context.font = `${rem * 0.6875}px ${getComputedStyle(document.body).fontFamily}`;
    context.lineWidth = 1.5;
  }

  private drawCurve(
    context: CanvasRenderingContext2D,
    { points, edge }: Curve,
    { x, y }: Scale,
    line: string,
    fill: string,
  ): void {
    if (points.length === 0) return;
    context.beginPath();
    context.moveTo(x(points[0]!.ticks), y(0));
    let height = 0;
    for (const { ticks, sumLots } of points) {
      context.lineTo(x(ticks), y(height));
      context.lineTo(x(ticks), y(sumLots));
      height = sumLots;
    }
    context.lineTo(x(edge), y(height));
    context.strokeStyle = line;
    context.stroke();
    context.lineTo(x(edge), y(0));
    context.closePath();
    context.fillStyle = fill;
    context.fill();
  }

  private drawAxis(
    context: CanvasRenderingContext2D,
    { low, high, middle }: Range,
    width: number,
    height: number,
  ): void {
    context.fillStyle = this.colours["text-faint"];
    context.textBaseline = "bottom";
    const places = [
      [low, "left", 4],
      [middle, "center", width / 2],
      [high, "right", width - 4],
    ] as const;
    for (const [ticks, align, x] of places) {
      context.textAlign = align;
      context.fillText(this.price(Math.round(ticks)), x, height - 4);
    }
  }

  private drawPointer(
    context: CanvasRenderingContext2D,
    { low, high, middle }: Range,
    bids: Curve,
    asks: Curve,
    { x, y }: Scale,
    width: number,
    height: number,
  ): void {
    const { pointerX } = this;
    if (pointerX === undefined) return;
    const ticks = Math.round(low + (pointerX / width) * (high - low));
    const isBid = ticks <= middle;
    const lots = (isBid ? bids : asks).at(ticks);
    context.strokeStyle = this.colours["line-strong"];
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x(ticks), 0);
    context.lineTo(x(ticks), height - AXIS_HEIGHT);
    context.moveTo(x(ticks) - 4, y(lots));
    context.lineTo(x(ticks) + 4, y(lots));
    context.stroke();
    const size = formatFixed(fromSteps(lots, this.view.units.lot), this.view.sizeDigits);
    context.fillStyle = this.colours.text;
    context.textBaseline = "top";
    context.textAlign = pointerX > width / 2 ? "right" : "left";
    const text = `${this.price(ticks)}   ${size} ${this.view.market.base}`;
    context.fillText(text, pointerX + (pointerX > width / 2 ? -8 : 8), 8);
  }

  private summary(bids: Curve, asks: Curve, { low, high }: Range): string {
    const { base } = this.view.market;
    const amount = (lots: number) => `${formatCompact(lots * this.view.units.lot.size)} ${base}`;
    return t.book.depthSummary(
      amount(bids.total),
      this.price(Math.ceil(low)),
      amount(asks.total),
      this.price(Math.floor(high)),
    );
  }

  private price(ticks: number): string {
    return formatFixed(fromSteps(Math.max(1, ticks), this.view.units.tick), this.view.priceDigits);
  }
}

interface Scale {
  x(ticks: number): number;
  y(lots: number): number;
}

type Range = NonNullable<ReturnType<typeof depthRange>>;
