/**
 * The DOM of the ladder's rows, updated without React: the book changes up to a hundred times a
 * second, so each frame writes only what changed.
 *
 * Asks are above the spread with the best at the bottom, bids below it. A row is picked by pointer,
 * or by arrow keys and Enter; the ladder is a single tab stop.
 */

import type { LadderRow } from "./aggregate.js";

interface LadderTexts {
  price(ticks: number): string;
  size(lots: number): string;
}

interface LadderSide {
  readonly rows: readonly LadderRow[];
  /** Ticks of rows with an order of the trader. */
  readonly own: ReadonlySet<number>;
}

/** One row: its elements and their current content. */
class Line {
  readonly element = document.createElement("div");
  ticks = 0;
  private readonly bar = document.createElement("span");
  private readonly cells: readonly HTMLElement[];
  private readonly shown = ["", "", ""];
  private width = -1;
  private isOwn = false;

  constructor(side: "bid" | "ask") {
    this.element.className = `ladder-row ${side}`;
    this.element.setAttribute("role", "row");
    this.element.tabIndex = -1;
    this.bar.className = "bar";
    this.cells = [0, 1, 2].map(() => {
      const cell = document.createElement("span");
      cell.setAttribute("role", "gridcell");
      return cell;
    });
    this.element.append(this.bar, ...this.cells);
  }

  show(ticks: number, texts: readonly [string, string, string], share: number, own: boolean): void {
    this.ticks = ticks;
    for (const [at, text] of texts.entries()) {
      if (this.shown[at] === text) continue;
      this.shown[at] = text;
      this.cells[at]!.textContent = text;
    }
    // Half a percent is less than a pixel.
    const width = Math.round(share * 200) / 200;
    if (width !== this.width) {
      this.width = width;
      this.bar.style.transform = `scaleX(${width})`;
    }
    if (own !== this.isOwn) {
      this.isOwn = own;
      this.element.classList.toggle("own", own);
    }
  }

  clear(): void {
    if (this.ticks !== 0) this.show(0, ["", "", ""], 0, false);
  }
}

export class BookLadder {
  private readonly asks: Line[] = [];
  private readonly bids: Line[] = [];
  private focused: Line | undefined;

  constructor(
    private readonly askBox: HTMLElement,
    private readonly bidBox: HTMLElement,
    private readonly texts: LadderTexts,
    private readonly onPick: (priceText: string) => void,
  ) {
    for (const box of [askBox, bidBox]) {
      box.addEventListener("click", this.pickFrom);
      box.addEventListener("keydown", this.handleKey);
    }
  }

  /** Lines per side. */
  resize(count: number): void {
    this.fit(this.asks, "ask", this.askBox, count);
    this.fit(this.bids, "bid", this.bidBox, count);
    const isLeft = this.focused !== undefined && this.linesOf().includes(this.focused);
    this.offerTabStop(isLeft ? this.focused : this.bids[0]);
  }

  draw(bids: LadderSide, asks: LadderSide): void {
    const deepest = Math.max(bids.rows.at(-1)?.sumLots ?? 0, asks.rows.at(-1)?.sumLots ?? 0);
    this.drawSide(this.asks, asks, deepest);
    this.drawSide(this.bids, bids, deepest);
  }

  destroy(): void {
    for (const box of [this.askBox, this.bidBox]) {
      box.removeEventListener("click", this.pickFrom);
      box.removeEventListener("keydown", this.handleKey);
      box.replaceChildren();
    }
  }

  private drawSide(lines: readonly Line[], { rows, own }: LadderSide, deepest: number): void {
    for (const [at, line] of lines.entries()) {
      const row = rows[at];
      if (row === undefined) line.clear();
      else {
        const { price, size } = this.texts;
        const texts = [price(row.ticks), size(row.lots), size(row.sumLots)] as const;
        line.show(row.ticks, [...texts], row.sumLots / deepest, own.has(row.ticks));
      }
    }
  }

  private fit(lines: Line[], side: "bid" | "ask", box: HTMLElement, count: number): void {
    while (lines.length > count) lines.pop()?.element.remove();
    while (lines.length < count) {
      const line = new Line(side);
      lines.push(line);
      // The best ask is last, next to the spread.
      if (side === "ask") box.prepend(line.element);
      else box.append(line.element);
    }
  }

  private offerTabStop(line: Line | undefined): void {
    if (this.focused !== undefined) this.focused.element.tabIndex = -1;
    this.focused = line;
    if (line !== undefined) line.element.tabIndex = 0;
  }

  private linesOf(): Line[] {
    return [...this.asks.toReversed(), ...this.bids];
  }

  private lineOf(target: EventTarget | null): Line | undefined {
    if (!(target instanceof Node)) return undefined;
    return this.linesOf().find(({ element }) => element.contains(target));
  }

  private readonly pickFrom = (event: Event): void => {
    const line = this.lineOf(event.target);
    if (line === undefined || line.ticks === 0) return;
    this.offerTabStop(line);
    this.onPick(this.texts.price(line.ticks));
  };

  private readonly handleKey = (event: KeyboardEvent): void => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.pickFrom(event);
      return;
    }
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const all = this.linesOf();
    const line = this.lineOf(event.target);
    if (line === undefined) return;
    const next = all[all.indexOf(line) + step];
    if (next === undefined) return;
    this.offerTabStop(next);
    next.element.focus();
  };
}
