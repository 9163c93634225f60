/** Draws the trader's drawings over the candles: a primitive of the chart's library. */

import type {
  IPrimitivePaneView,
  ISeriesPrimitive,
  Logical,
  SeriesAttachedParameter,
  Time,
} from "lightweight-charts";
import { formatFixed } from "../format/numbers.js";
import type { Colours } from "../theme/theme.js";
import { type DrawingKind, type DrawnPoint, retracements } from "./drawings.js";
import { secondsOf } from "./studies.js";

/** A drawing, or what has been placed of one. */
interface DrawnShape {
  readonly kind: DrawingKind;
  readonly points: readonly DrawnPoint[];
  readonly text: string;
}

/** Unix milliseconds. */
interface ShownTimes {
  readonly first: number;
  readonly last: number;
  readonly stepMs: number;
}

interface Place {
  readonly x: number;
  readonly y: number;
}

type Target = Parameters<NonNullable<ReturnType<IPrimitivePaneView["renderer"]>>["draw"]>[0];

export class DrawingLayer implements ISeriesPrimitive<Time> {
  private attachedTo: SeriesAttachedParameter<Time> | undefined;
  private shapes: readonly DrawnShape[] = [];
  /** What is being placed, with the point under the pointer. */
  private unfinished: DrawnShape | undefined;
  private times: ShownTimes = { first: 0, last: 0, stepMs: 1 };
  private readonly views = [{ renderer: () => ({ draw: (target: Target) => this.draw(target) }) }];

  constructor(
    private readonly priceDigits: number,
    private colours: Colours,
  ) {}

  attached(to: SeriesAttachedParameter<Time>): void {
    this.attachedTo = to;
  }

  detached(): void {
    this.attachedTo = undefined;
  }

  paneViews(): readonly IPrimitivePaneView[] {
    return this.views;
  }

  show(shapes: readonly DrawnShape[]): void {
    this.shapes = shapes;
    this.attachedTo?.requestUpdate();
  }

  showUnfinished(shape: DrawnShape | undefined): void {
    this.unfinished = shape;
    this.attachedTo?.requestUpdate();
  }

  setTimes(times: ShownTimes): void {
    this.times = times;
  }

  applyColours(colours: Colours): void {
    this.colours = colours;
    this.attachedTo?.requestUpdate();
  }

  /** Of the candle at an x; beyond the last one as if there were more. */
  timeAt(x: number): number | undefined {
    const scale = this.attachedTo?.chart.timeScale();
    const time = scale?.coordinateToTime(x);
    if (time !== null && time !== undefined) return Number(time) * 1_000;
    const logical = scale?.coordinateToLogical(x);
    const { first, last, stepMs } = this.times;
    if (logical === null || logical === undefined) return undefined;
    const end = this.indexOf(last);
    return logical > end ? last + (logical - end) * stepMs : first + logical * stepMs;
  }

  private xOf(time: number): number | null {
    const { first, last, stepMs } = this.times;
    const within = Math.min(last, Math.max(first, time));
    const logical = this.indexOf(within) + (time - within) / stepMs;
    // The library's branded type.
    return this.attachedTo?.chart.timeScale().logicalToCoordinate(logical as Logical) ?? null;
  }

  /** Of the candle with this time, or next to it. */
  private indexOf(time: number): number {
    return Number(this.attachedTo?.chart.timeScale().timeToIndex(secondsOf(time), true) ?? 0);
  }

  private placeOf({ time, price }: DrawnPoint): Place | undefined {
    const x = this.xOf(time);
    const y = this.attachedTo?.series.priceToCoordinate(price) ?? null;
    return x === null || y === null ? undefined : { x, y };
  }

  private draw(target: Target): void {
    // biome-ignore lint/correctness/useHookAtTopLevel: a method of the library's canvas, no hook
    target.useMediaCoordinateSpace(({ context, mediaSize: { width } }) => {
      const family = getComputedStyle(document.body).fontFamily;
      context.font = `11px ${family}`;
      context.lineWidth = 1;
      context.strokeStyle = this.colours.accent;
      context.fillStyle = this.colours.text;
      for (const shape of this.shapes) this.drawShape(context, width, shape);
      if (this.unfinished !== undefined) this.drawShape(context, width, this.unfinished);
    });
  }

  private drawShape(
    context: CanvasRenderingContext2D,
    width: number,
    { kind, points, text }: DrawnShape,
  ): void {
    const [first, second] = points;
    const from = first === undefined ? undefined : this.placeOf(first);
    if (first === undefined || from === undefined) return;
    if (kind === "level") this.drawLevel(context, 0, width, first.price, "");
    if (kind === "text") context.fillText(text, from.x, from.y);
    const to = second === undefined ? undefined : this.placeOf(second);
    if (second === undefined || to === undefined) return;
    stroke(context, from, to);
    if (kind !== "fib") return;
    for (const { share, price } of retracements(first, second)) {
      const label = `${formatFixed(share * 100, 1)}% `;
      this.drawLevel(context, Math.min(from.x, to.x), width, price, label);
    }
  }

  private drawLevel(
    context: CanvasRenderingContext2D,
    x: number,
    width: number,
    price: number,
    label: string,
  ): void {
    const y = this.attachedTo?.series.priceToCoordinate(price) ?? null;
    if (y === null) return;
    // On whole pixels it is as sharp as the lines of orders.
    const sharp = Math.round(y) + 0.5;
    stroke(context, { x, y: sharp }, { x: width, y: sharp });
    context.fillText(`${label}${formatFixed(price, this.priceDigits)}`, Math.max(4, x), y - 3);
  }
}

function stroke(context: CanvasRenderingContext2D, from: Place, to: Place): void {
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.lineTo(to.x, to.y);
  context.stroke();
}
