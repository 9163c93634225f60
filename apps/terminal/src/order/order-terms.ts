/**
 * The order that the form describes, read once for the estimate, the button and the request, so that
 * all three mean the same order; and what is wrong with each field.
 */

import { fromSteps, type Holding, type Step, toMicrosFloor } from "@perpgate/protocol/core";
import type { NewOrder } from "@perpgate/sdk";
import type { OrderIntent } from "../maths/order-preview.js";
import { closableLots, type Direction } from "../maths/position-maths.js";
import { worstTicks } from "../maths/worst-price.js";
import { t } from "../text/texts.js";
import type { LineState } from "../venue/line.js";
import { closedText, type MarketView } from "../venue/market-view.js";
import { type ExitName, exitTicks } from "./exit-terms.js";
import { numberIn, type OrderForm } from "./order-form-state.js";
import { sideProblem, stepProblem, stepsIn } from "./typed-steps.js";

type FieldName = "amount" | "leverage" | "price" | "limitPrice" | "takeProfit" | "stopLoss";

interface FormContext {
  readonly markTicks: number | undefined;
  /** Undefined if the setting cannot be read: then no market order is sent. */
  readonly maxSlippagePpm: number | undefined;
  readonly held: Holding;
  /** The venue's time; undefined until it is known: the clock of the browser may be wrong. */
  readonly now: number | undefined;
}

export interface FormTerms {
  readonly intent: OrderIntent;
  readonly order: NewOrder;
}

export interface ReadForm {
  readonly problems: Readonly<Partial<Record<FieldName, string>>>;
  /** Why there is no order yet: the text of the button. */
  readonly missing: string | undefined;
  readonly terms: FormTerms | undefined;
}

export function directionOf({ side }: Pick<OrderForm, "side">): Direction {
  return side === "long" ? 1 : -1;
}

/** Whether the order may rest, so that post-only and expiry apply. */
export function canRest(form: OrderForm): boolean {
  if (form.type === "stop") return form.limitPrice.trim() !== "";
  return form.type === "limit" && form.timeInForce === "gtc";
}

function hasExpiry(form: OrderForm): boolean {
  return form.expiresInMs > 0 && canRest(form);
}

export function readForm(view: MarketView, form: OrderForm, context: FormContext): ReadForm {
  const problems = problemsOf(view, form, context);
  const missing = missingIn(view, form, problems, context);
  if (missing !== undefined) return { problems, missing, terms: undefined };
  const intent = intentOf(view, form, context);
  const order = orderOf(view, form, intent, context);
  return { problems, missing, terms: { intent, order } };
}

/** What closes the position alone, and what waits for its trigger, has no exits of its own. */
export function canHaveExits({ type, reduceOnly }: OrderForm): boolean {
  return type !== "stop" && !reduceOnly;
}

/** Where the distance of an exit begins: at the mark of a market order, at the price of a limit order. */
export function exitBase(
  form: OrderForm,
  { tick }: MarketView["units"],
  markTicks: number | undefined,
): number | undefined {
  return form.type === "market" ? markTicks : stepsIn(form.price, tick);
}

/** The intent, for estimates: an amount that is missing counts as nothing. */
export function intentOf(view: MarketView, form: OrderForm, context: FormContext): OrderIntent {
  const direction = directionOf(form);
  const leverage = leverageIn(form, view) ?? 1;
  const amount = numberIn(form.amount) ?? 0;
  const { markTicks, maxSlippagePpm } = context;
  const worst =
    markTicks === undefined || maxSlippagePpm === undefined
      ? 0
      : worstTicks(markTicks, direction, maxSlippagePpm);
  return {
    direction,
    type: form.type,
    leverage,
    marginMicros: form.unit === "size" ? 0 : marginMicros(form.unit, amount, leverage),
    sizeLots: form.unit === "size" ? (stepsIn(form.amount, view.units.lot) ?? 0) : 0,
    priceTicks: form.type === "market" ? worst : (stepsIn(form.price, view.units.tick) ?? 0),
    reduceOnly: form.reduceOnly,
    ...(form.type === "limit" ? { timeInForce: form.timeInForce } : {}),
  };
}

function marginMicros(unit: "margin" | "value", amount: number, leverage: number): number {
  return toMicrosFloor(unit === "margin" ? amount : amount / leverage);
}

function orderOf(
  { market, units }: MarketView,
  form: OrderForm,
  intent: OrderIntent,
  { now, markTicks }: FormContext,
): NewOrder {
  const { leverage, priceTicks, sizeLots = 0 } = intent;
  const limitTicks = form.type === "stop" ? stepsIn(form.limitPrice, units.tick) : undefined;
  return {
    symbol: market.symbol,
    side: form.side,
    type: form.type,
    ...(sizeLots > 0
      ? { size: fromSteps(sizeLots, units.lot) }
      : { margin: intent.marginMicros / 1e6 }),
    leverage,
    price: fromSteps(priceTicks, units.tick),
    reduceOnly: form.reduceOnly,
    postOnly: form.postOnly && form.type === "limit" && canRest(form),
    ...(form.type === "limit" && form.timeInForce !== "gtc"
      ? { timeInForce: form.timeInForce }
      : {}),
    ...(hasExpiry(form) && now !== undefined ? { expiresAt: now + form.expiresInMs } : {}),
    ...(form.type === "stop" && form.trigger !== "stop" ? { trigger: form.trigger } : {}),
    ...(limitTicks === undefined ? {} : { limitPrice: fromSteps(limitTicks, units.tick) }),
    ...exitsOf(units, form, exitBase(form, units, markTicks)),
  };
}

function exitsOf(
  { tick }: MarketView["units"],
  form: OrderForm,
  base: number | undefined,
): Pick<NewOrder, "takeProfit" | "stopLoss"> {
  if (!form.hasExits || !canHaveExits(form)) return {};
  const exitIn = (name: ExitName) => {
    const ticks = exitTicks(form, name, tick, base);
    return ticks === undefined ? {} : { [name]: { price: fromSteps(ticks, tick) } };
  };
  return { ...exitIn("takeProfit"), ...exitIn("stopLoss") };
}

function problemsOf(view: MarketView, form: OrderForm, context: FormContext): ReadForm["problems"] {
  const { units, market } = view;
  const problems: Partial<Record<FieldName, string>> = {};
  const note = (name: FieldName, problem: string | undefined) => {
    if (problem !== undefined) problems[name] = problem;
  };
  note("amount", stepProblem(form.amount, form.unit === "size" ? units.lot : undefined));
  if (leverageIn(form, view) === undefined) {
    note("leverage", t.problems.wholeNumber(1, market.maxLeverage));
  }
  if (form.type !== "market") note("price", stepProblem(form.price, units.tick));
  if (form.type === "stop") note("limitPrice", stepProblem(form.limitPrice, units.tick));
  if (form.hasExits && canHaveExits(form)) {
    const base = exitBase(form, units, context.markTicks);
    for (const name of ["takeProfit", "stopLoss"] as const) {
      note(name, exitProblem(form, name, units.tick, base));
    }
  }
  return problems;
}

function exitProblem(
  form: OrderForm,
  name: ExitName,
  tick: Step,
  base: number | undefined,
): string | undefined {
  const text = form[name];
  const isAbove = (name === "takeProfit") === (form.side === "long");
  const from = form.type === "market" ? "mark" : "price";
  if (form.exitUnit === "price") {
    return stepProblem(text, tick) ?? sideProblem(text, tick, base, isAbove, from);
  }
  const problem = stepProblem(text);
  if (problem !== undefined || text.trim() === "" || base === undefined) return problem;
  return exitTicks(form, name, tick, base) === undefined ? t.problems.noPriceThere : undefined;
}

function missingIn(
  view: MarketView,
  form: OrderForm,
  problems: ReadForm["problems"],
  { held, markTicks, maxSlippagePpm, now }: FormContext,
): string | undefined {
  const barred = barredText(view, held, directionOf(form));
  if (barred !== undefined) return barred;
  if (form.type === "market" && maxSlippagePpm === undefined) return t.problems.correctSlippage;
  if (form.type !== "market") {
    if (form.price.trim() === "") {
      return form.type === "stop" ? t.problems.enterTrigger : t.problems.enterPrice;
    }
    if (problems.price !== undefined) return t.problems.correctPrice;
  }
  if (form.reduceOnly && closableLots(held, directionOf(form)) === 0)
    return t.problems.nothingToReduce;
  if (problems.amount !== undefined) return t.problems.correctAmount;
  if (!((numberIn(form.amount) ?? 0) > 0)) return t.problems.enter[form.unit];
  if (problems.leverage !== undefined) return t.problems.correctLeverage;
  if (Object.keys(problems).length > 0) return t.problems.correctMarked;
  if (markTicks === undefined) return t.problems.waitForPrice;
  return hasExpiry(form) && now === undefined ? t.problems.waitForTime : undefined;
}

/** Why the order cannot be sent now: an order sent after a reconnection would meet another market than the one on the screen. */
export function blockedText(line: LineState, missing: string | undefined): string | undefined {
  return line === "live" ? missing : t.problems.line[line];
}

/** Why the market takes no order of this direction; undefined if it takes some. */
export function barredText(
  { market }: MarketView,
  held: Holding,
  direction: Direction,
): string | undefined {
  const isOpening = closableLots(held, direction) === 0;
  return (
    closedText(market) ??
    (market.status === "reduceOnly" && isOpening ? t.problems.reduceOnly : undefined)
  );
}

export function leverageIn({ leverage }: OrderForm, { market }: MarketView): number | undefined {
  const value = numberIn(leverage);
  const isAllowed = Number.isInteger(value) && Number(value) >= 1;
  return isAllowed && Number(value) <= market.maxLeverage ? value : undefined;
}
