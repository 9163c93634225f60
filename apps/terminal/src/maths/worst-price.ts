/** The worst price of a market order: a share of the mark away from it, on the tick. */

import { mulDivFloor, PPM } from "@perpgate/protocol/core";
import type { Direction } from "./position-maths.js";

/** Rounded toward the mark, so that the bound is never wider than asked for. */
export function worstTicks(markTicks: number, direction: Direction, slippagePpm: number): number {
  return Math.max(1, markTicks + direction * mulDivFloor(markTicks, slippagePpm, PPM));
}
