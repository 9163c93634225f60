/** Figures of positions that move with the sampled marks. */

import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { livePosition } from "../venue/live-position.js";

/** Renders the component with each sample of the marks. */
export function useRefresh(): void {
  const { marks } = useTerminal();
  useStore(marks.sample);
}

/** The sum of the figures in the table, which are rounded to cents; undefined until there are positions to sum. */
export function useUnrealized(): number | undefined {
  const terminal = useTerminal();
  const positions = useStore(terminal.account.positions);
  useRefresh();
  if (positions === undefined) return undefined;
  let cents = 0;
  for (const position of positions.values()) {
    cents += Math.round(livePosition(terminal, position).unrealized * 100);
  }
  return cents / 100;
}
