/** Figures of positions that move with the sampled marks. */

import { useStore } from "../state/store.js";
import { useTerminal } from "../terminal.js";
import { livePosition } from "../venue/live-position.js";

/** Renders the component with each sample of the marks. */
export function useRefresh(): void {
  const { marks } = useTerminal();
  useStore(marks.sample);
}

interface Unrealized {
  readonly exact: number;
  /** The sum of the figures in the table, which are rounded to cents. */
  readonly shown: number;
}

/** Of all positions; undefined until they are known. */
export function useUnrealized(): Unrealized | undefined {
  const terminal = useTerminal();
  const positions = useStore(terminal.account.positions);
  useRefresh();
  if (positions === undefined) return undefined;
  let exact = 0;
  let cents = 0;
  for (const position of positions.values()) {
    const { unrealized } = livePosition(terminal, position);
    exact += unrealized;
    cents += Math.round(unrealized * 100);
  }
  return { exact, shown: cents / 100 };
}
