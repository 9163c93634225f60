import { LIQUIDATIONS_AND_STOPS_PER_COMMAND } from "../config.js";
import { Selection } from "../selection.js";
import { WorkBudget } from "../work-budget.js";

/** What a tick liquidates in a market; in version 2 in all of them. */
export class Liquidations {
  /** The chosen positions: weight is the shortfall, tie the pair of market and account. */
  readonly due = new Selection(LIQUIDATIONS_AND_STOPS_PER_COMMAND);
  /** Those of them that have had no turn. */
  readonly firstTurns: number[] = [];
  /** Of those that wait for a later turn the next ones: weight is what they go by, tie the account. */
  readonly behind = new Selection(LIQUIDATIONS_AND_STOPS_PER_COMMAND);
  /** Turns that the tick has left: first ones, and later ones. */
  first = new WorkBudget(0);
  later = new WorkBudget(0);
}
