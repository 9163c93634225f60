/** Index updates of a flow: of the slot of now, or of the next one that the market has had none of. */
import type { UpdateIndex } from "../../commands.js";
import { TICK_MS } from "../../config.js";
import type { State } from "../reference/state.js";

export function indexUpdate(
  state: State,
  stampMs: number,
  market: number,
  indexTicks: number,
): UpdateIndex {
  const after = (state.markets[market]?.indexSlot ?? 0) + 1;
  const slot = Math.max(Math.floor(state.time / TICK_MS), after);
  return { kind: "UpdateIndex", stampMs, market, indexTicks, slot };
}
