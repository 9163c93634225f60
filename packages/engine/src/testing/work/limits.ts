/** Tight bounds of work for tests: flows never reach those of the page, and these often. */
import { UNITS_PER_MAKER } from "../../work.js";

/** The work units of that many makers, for a command and for a tick. */
export function unitsOf(makers: number) {
  const units = UNITS_PER_MAKER * makers;
  return {
    unitsPerCommand: units,
    unitsPerTick: units,
    unitsPerTickAndMarket: units,
    unitsForOver: units,
  };
}
