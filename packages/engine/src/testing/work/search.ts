/**
 * Looks for the shapes in which commands take the most: random ones first, then small changes of the best,
 * which are kept if they are better.
 */
import { Random } from "@perpgate/protocol/random";
import { mutated, randomShape, rangesOf, type Shape } from "./shape.js";
import { type Trial, World, type WorldLimits } from "./world.js";

export interface SearchSize extends WorldLimits {
  readonly accounts: number;
  readonly markets: number;
  readonly random: number;
  readonly steps: number;
}

/** What a shape is judged by: the higher, the better. */
export type Goal = (trials: readonly Trial[]) => number;

export function trialsOf(shape: Shape, limits: WorldLimits): Trial[] {
  return [...new World(shape, limits).trials()];
}

/** Returns the best shape that it has found; `observe` sees the trials of all of them. */
export function search(
  seed: number,
  size: SearchSize,
  goal: Goal,
  observe: (trials: readonly Trial[], shape: Shape) => void,
): Shape {
  const random = new Random(seed);
  const ranges = rangesOf(size.accounts, size.maxOpenOrders, size.markets);
  const judge = (shape: Shape): number => {
    const trials = trialsOf(shape, size);
    observe(trials, shape);
    return goal(trials);
  };
  let best = randomShape(random, ranges);
  let reached = judge(best);
  for (let i = 1; i < size.random + size.steps; i++) {
    const next = i < size.random ? randomShape(random, ranges) : mutated(random, best, ranges);
    const value = judge(next);
    if (value > reached) [best, reached] = [next, value];
  }
  return best;
}
