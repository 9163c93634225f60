/** Liquidations and triggered stops share one allowance per command. */
import { LIQUIDATIONS_AND_STOPS_PER_COMMAND } from "../config.js";

export class WorkBudget {
  left = LIQUIDATIONS_AND_STOPS_PER_COMMAND;

  /** Whether one more may be done; if so it counts. */
  take(): boolean {
    if (this.left === 0) return false;
    this.left--;
    return true;
  }
}
