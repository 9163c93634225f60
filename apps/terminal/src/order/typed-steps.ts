/** Typed numbers in ticks and lots, and what is wrong with them. */

import { NotInUnits, type Step, toSteps } from "@perpgate/protocol/core";
import { t } from "../text/texts.js";
import { isTooLarge, numberIn } from "./order-form-state.js";

/** What is wrong with a typed number; an empty field is not wrong. */
export function stepProblem(text: string, step?: Step): string | undefined {
  if (text.trim() === "") return undefined;
  if (isTooLarge(text)) return t.problems.tooLarge;
  const value = numberIn(text);
  if (value === undefined || value <= 0) return t.problems.positive;
  if (step === undefined || stepsIn(text, step) !== undefined) return undefined;
  return t.problems.multipleOf(step.size);
}

/** An exit lies beyond the mark, or beyond its order's price. */
export function sideProblem(
  text: string,
  step: Step,
  from: number | undefined,
  isAbove: boolean,
  name: "mark" | "price",
): string | undefined {
  const ticks = stepsIn(text, step);
  if (ticks === undefined || from === undefined) return undefined;
  if (isAbove ? ticks > from : ticks < from) return undefined;
  if (name === "mark") return isAbove ? t.problems.aboveMark : t.problems.belowMark;
  return isAbove ? t.problems.abovePrice : t.problems.belowPrice;
}

/** The typed number in ticks or lots; undefined if it is none, or between two of them. */
export function stepsIn(text: string, step: Step): number | undefined {
  const value = numberIn(text);
  if (value === undefined || value <= 0) return undefined;
  try {
    return toSteps(value, step);
  } catch (error) {
    if (error instanceof NotInUnits) return undefined;
    throw error;
  }
}
