/**
 * What has to change to turn the open quotes into a ladder around the fair price: a pure function
 * that returns what to cancel and what to place, most urgent first.
 *
 * Hysteresis: a cell keeps its level a quarter farther out than it would get one, and gets one only a
 * quarter farther in. Without it a price that oscillates would place and cancel the same quotes again
 * and again.
 */

import {
  cellOf,
  density,
  ownerOf,
  type QuoteLadder,
  type QuoteSide,
  rankOfCell,
  tickOfCell,
} from "./ladder.js";

export interface StandingQuote {
  readonly orderId: string;
  readonly side: QuoteSide;
  readonly ticks: number;
  /** The account that placed it. */
  readonly maker: number;
}

export interface NewQuote {
  readonly side: QuoteSide;
  readonly ticks: number;
  /** Ticks from the fair price. */
  readonly gap: number;
  readonly maker: number;
  /** Whether it is placed to be the best quote. */
  readonly isTouch: boolean;
}

export interface QuotePlan {
  /** Crossed ones first. */
  readonly cancel: readonly StandingQuote[];
  /** How many of them are on the wrong side of the fair price: new quotes would trade with them. */
  readonly crossed: number;
  /** Nearest to the fair price first, both sides mixed. */
  readonly place: readonly NewQuote[];
}

/** A quote that goes (no `to`), comes (no `from`), or moves and keeps its order's id. */
export interface QuoteMove {
  readonly maker: number;
  readonly from?: StandingQuote;
  readonly to?: NewQuote;
}

interface PlanInput {
  readonly ladder: QuoteLadder;
  /** Not rounded. */
  readonly fairTicks: number;
  readonly makers: number;
  readonly standing: readonly StandingQuote[];
  /** Bids stay below and asks above the orders of other traders. */
  readonly bidBelowTicks: number;
  readonly askAboveTicks: number;
}

/** The best quote is at most this far from the fair price. */
const WIDEST_TOUCH_TICKS = 3;
/** Closer quotes could cross each other. */
const CLOSEST_TICKS = 0.5;
const KEPT_WITHIN = 0.75;
const PLACED_WITHIN = 1.25;
/** A touch and a level may share a cell. */
const MOST_PER_CELL = 2;

export function planQuotes(input: PlanInput): QuotePlan {
  const sides = [planSide(input, "bid"), planSide(input, "ask")];
  const crossed = sides.flatMap((side) => side.crossed);
  const strays = sides.flatMap((side) => side.strays);
  const place = sides.flatMap((side) => side.place).sort((a, b) => a.gap - b.gap);
  return { cancel: [...crossed, ...strays], crossed: crossed.length, place };
}

export function canceling(from: StandingQuote): QuoteMove {
  return { maker: from.maker, from };
}

/** A quote that goes and a new one of the same account and side are one quote that moves. */
export function pairQuotes(
  going: readonly StandingQuote[],
  coming: readonly NewQuote[],
): QuoteMove[] {
  const left = [...going];
  const moves = coming.map((to): QuoteMove => {
    const at = left.findIndex(({ maker, side }) => maker === to.maker && side === to.side);
    const [from] = at < 0 ? [] : left.splice(at, 1);
    return from === undefined ? { maker: to.maker, to } : { maker: to.maker, from, to };
  });
  return [...left.map(canceling), ...moves];
}

interface SidePlan {
  readonly crossed: readonly StandingQuote[];
  readonly strays: readonly StandingQuote[];
  readonly place: readonly NewQuote[];
}

function planSide(input: PlanInput, side: QuoteSide): SidePlan {
  const { ladder, standing } = input;
  const gapOf = (ticks: number) =>
    side === "bid" ? input.fairTicks - ticks : ticks - input.fairTicks;
  const mine = standing.filter((quote) => quote.side === side);
  mine.sort((a, b) => gapOf(a.ticks) - gapOf(b.ticks));
  const crossed: StandingQuote[] = [];
  const strays: StandingQuote[] = [];
  const held = new Map<number, number>();
  let nearest = Number.POSITIVE_INFINITY;
  for (const quote of mine) {
    const gap = gapOf(quote.ticks);
    const cell = cellOf(ladder, quote.ticks);
    const count = held.get(cell) ?? 0;
    if (gap < CLOSEST_TICKS) crossed.push(quote);
    else if (count >= MOST_PER_CELL || !isWanted(ladder, cell, gap * KEPT_WITHIN)) {
      strays.push(quote);
    } else {
      held.set(cell, count + 1);
      nearest = Math.min(nearest, gap);
    }
  }
  const place = newQuotes(input, side, held);
  if (Math.min(nearest, place[0]?.gap ?? nearest) > WIDEST_TOUCH_TICKS) {
    const touch = newQuote(input, side, touchTicks(input.fairTicks, side));
    if (touch !== undefined) place.unshift({ ...touch, isTouch: true });
  }
  return { crossed, strays, place };
}

/** Levels of cells that have none, nearest first. */
function newQuotes(
  input: PlanInput,
  side: QuoteSide,
  held: ReadonlyMap<number, number>,
): NewQuote[] {
  const { ladder, fairTicks } = input;
  const direction = side === "bid" ? -1 : 1;
  const first = cellOf(ladder, fairTicks);
  const place: NewQuote[] = [];
  for (let away = 0; away <= ladder.reachCells; away++) {
    const cell = first + direction * away;
    if (held.has(cell)) continue;
    const quote = newQuote(input, side, tickOfCell(ladder, cell));
    if (quote !== undefined && isWanted(ladder, cell, quote.gap * PLACED_WITHIN)) place.push(quote);
  }
  return place;
}

/** Undefined if it would cross the fair price or another trader's order, or is below one tick. */
function newQuote(input: PlanInput, side: QuoteSide, ticks: number): NewQuote | undefined {
  const { ladder, fairTicks, makers } = input;
  const gap = side === "bid" ? fairTicks - ticks : ticks - fairTicks;
  const isFree = side === "bid" ? ticks < input.bidBelowTicks : ticks > input.askAboveTicks;
  if (gap < CLOSEST_TICKS || ticks < 1 || !isFree) return undefined;
  return { side, ticks, gap, maker: ownerOf(ladder, ticks, makers), isTouch: false };
}

function isWanted(ladder: QuoteLadder, cell: number, gap: number): boolean {
  return rankOfCell(ladder, cell) < density(ladder, gap / ladder.cellTicks);
}

function touchTicks(fairTicks: number, side: QuoteSide): number {
  return side === "bid" ? Math.floor(fairTicks - 1) : Math.ceil(fairTicks + 1);
}
