/**
 * A ladder of limit orders between two prices, sent as one batch. They only make: an order that would fill
 * immediately is refused by the venue, so that the estimate counts each at its own price.
 */

import { divFloor, fromMicros, fromSteps, type Holding } from "@perpgate/protocol/core";
import type { NewOperation } from "@perpgate/sdk";
import { applyFill, closableLots, type Direction } from "../maths/position-maths.js";
import { countOf, t } from "../text/texts.js";
import type { MarketView } from "../venue/market-view.js";
import { type AmountUnit, numberIn } from "./order-form-state.js";
import { stepProblem, stepsIn } from "./typed-steps.js";

export interface ScaleForm {
  readonly side: "long" | "short";
  readonly unit: AmountUnit;
  readonly amount: string;
  readonly leverage: string;
  readonly from: string;
  readonly to: string;
  readonly count: string;
  /** How the last order's part compares with the first one's. */
  readonly skew: "even" | "rising" | "falling";
  readonly reduceOnly: boolean;
}

export interface ScaleContext {
  readonly markTicks: number;
  /** The best price of the other side, which none may reach. */
  readonly bestOther: number | undefined;
  readonly held: Holding;
}

interface ScaleRow {
  readonly ticks: number;
  readonly lots: number;
}

export interface ScalePlan {
  readonly rows: readonly ScaleRow[];
  readonly operations: readonly NewOperation[];
  readonly lots: number;
  readonly averageTicks: number;
  /** Debit of the wallet, fees included, once all have filled. */
  readonly walletMicros: number;
  readonly feeMicros: number;
  readonly after: Holding;
}

type ScaleField = "amount" | "leverage" | "from" | "to" | "count";

export interface ReadScale {
  readonly problems: Readonly<Partial<Record<ScaleField, string>>>;
  /** Undefined while something is missing or wrong. */
  readonly plan: ScalePlan | undefined;
}

/** The last order has three times the part of the first one, or a third of it. */
const STEEPEST = 3;
const FEWEST = 2;
const MOST = 50;

export function readScale(view: MarketView, form: ScaleForm, context: ScaleContext): ReadScale {
  const problems = problemsOf(view, form, context);
  if (Object.keys(problems).length > 0) return { problems, plan: undefined };
  const rows = rowsOf(view, form);
  if (rows === undefined) return { problems, plan: undefined };
  const problem = amountProblem(view, form, rows, context);
  if (problem !== undefined) return { problems: { amount: problem }, plan: undefined };
  return { problems, plan: planOf(view, form, rows, context) };
}

function problemsOf(
  { market, units }: MarketView,
  form: ScaleForm,
  { bestOther }: ScaleContext,
): ReadScale["problems"] {
  const problems: Partial<Record<ScaleField, string>> = {};
  const note = (field: ScaleField, problem: string | undefined) => {
    if (problem !== undefined) problems[field] = problem;
  };
  const crosses = (text: string): string | undefined => {
    const ticks = stepsIn(text, units.tick);
    if (ticks === undefined || bestOther === undefined) return undefined;
    if (form.side === "long" ? ticks < bestOther : ticks > bestOther) return undefined;
    return form.side === "long" ? t.problems.belowAsk : t.problems.aboveBid;
  };
  note("from", stepProblem(form.from, units.tick) ?? crosses(form.from));
  note("to", stepProblem(form.to, units.tick) ?? crosses(form.to));
  note("amount", stepProblem(form.amount, form.unit === "size" ? units.lot : undefined));
  const leverage = numberIn(form.leverage);
  const isAllowed = Number.isInteger(leverage) && Number(leverage) >= 1;
  if (!isAllowed || Number(leverage) > market.maxLeverage) {
    note("leverage", t.problems.wholeNumber(1, market.maxLeverage));
  }
  const count = numberIn(form.count);
  if (!Number.isInteger(count) || Number(count) < FEWEST || Number(count) > MOST) {
    note("count", t.problems.wholeNumber(FEWEST, MOST));
  }
  return problems;
}

/** Undefined while a field is empty. */
function rowsOf({ units }: MarketView, form: ScaleForm): readonly ScaleRow[] | undefined {
  const [from, to] = [stepsIn(form.from, units.tick), stepsIn(form.to, units.tick)];
  const amount = numberIn(form.amount);
  const count = numberIn(form.count) ?? 0;
  if (from === undefined || to === undefined || amount === undefined) return undefined;
  const prices = Array.from({ length: count }, (_, at) =>
    Math.round(from + ((to - from) * at) / (count - 1)),
  );
  const shares = sharesOf(form.skew, count);
  if (form.unit === "size") {
    const total = stepsIn(form.amount, units.lot) ?? 0;
    const lots = splitLots(total, shares);
    return prices.map((ticks, at) => ({ ticks, lots: lots[at] ?? 0 }));
  }
  const times = form.unit === "margin" ? (numberIn(form.leverage) ?? 1) : 1;
  const micros = Math.floor(amount * times * 1e6);
  return prices.map((ticks, at) => ({
    ticks,
    lots: divFloor(Math.floor(micros * (shares[at] ?? 0)), ticks * units.unit),
  }));
}

function sharesOf(skew: ScaleForm["skew"], count: number): readonly number[] {
  const last = { even: 1, rising: STEEPEST, falling: 1 / STEEPEST }[skew];
  const weights = Array.from({ length: count }, (_, at) => 1 + ((last - 1) * at) / (count - 1));
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** Whole lots whose sum is the total: the first orders get what rounding left. */
function splitLots(total: number, shares: readonly number[]): readonly number[] {
  const lots = shares.map((share) => Math.floor(total * share));
  let left = total - lots.reduce((sum, each) => sum + each, 0);
  return lots.map((each) => (left-- > 0 ? each + 1 : each));
}

function amountProblem(
  { market, units }: MarketView,
  { reduceOnly, side }: ScaleForm,
  rows: readonly ScaleRow[],
  { held }: ScaleContext,
): string | undefined {
  const least = reduceOnly ? 0 : market.minNotional;
  const isSmall = ({ ticks, lots }: ScaleRow) =>
    lots === 0 || fromMicros(lots * ticks * units.unit) < least;
  if (rows.some(isSmall)) return t.problems.tooLittle(countOf(rows.length, t.counts.orders));
  const lots = rows.reduce((sum, row) => sum + row.lots, 0);
  if (reduceOnly && lots > closableLots(held, directionOf(side)))
    return t.positions.moreThanPosition;
  return undefined;
}

function planOf(
  { market, units }: MarketView,
  { side, leverage, reduceOnly }: ScaleForm,
  rows: readonly ScaleRow[],
  { held, markTicks }: ScaleContext,
): ScalePlan {
  const times = numberIn(leverage) ?? 1;
  const direction = directionOf(side);
  const totals = { after: held, walletMicros: 0, feeMicros: 0, lots: 0, value: 0 };
  for (const { ticks, lots } of rows) {
    const terms = { direction, lots, ticks, markTicks, leverage: times, feePpm: units.makerPpm };
    const effect = applyFill(units, totals.after, terms);
    totals.after = effect.after;
    totals.walletMicros += effect.walletMicros;
    totals.feeMicros += effect.feeMicros;
    totals.lots += lots;
    totals.value += lots * ticks;
  }
  const operations = rows.map(
    ({ ticks, lots }): NewOperation => ({
      op: "place",
      symbol: market.symbol,
      side,
      type: "limit",
      size: fromSteps(lots, units.lot),
      price: fromSteps(ticks, units.tick),
      leverage: times,
      postOnly: true,
      reduceOnly,
    }),
  );
  const { after, walletMicros, feeMicros, lots, value } = totals;
  return { rows, operations, lots, averageTicks: value / lots, walletMicros, feeMicros, after };
}

function directionOf(side: ScaleForm["side"]): Direction {
  return side === "long" ? 1 : -1;
}
