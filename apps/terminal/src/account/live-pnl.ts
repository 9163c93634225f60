/** PnL by the sampled mark, between two frames of the positions stream. */

import type { Position } from "@perpgate/protocol";
import { useStore } from "../state/store.js";
import { type Terminal, useTerminal } from "../terminal.js";

export interface LivePosition {
  readonly mark: number;
  readonly unrealized: number;
  /** Of the margin. */
  readonly share: number;
}

export function livePosition({ marks }: Pick<Terminal, "marks">, position: Position): LivePosition {
  const { symbol, size, margin, markPrice, unrealizedPnl } = position;
  const mark = marks.sample.get().get(symbol) ?? markPrice;
  const unrealized = unrealizedPnl + size * (mark - markPrice);
  return { mark, unrealized, share: margin > 0 ? unrealized / margin : 0 };
}

/** Renders the component with each sample of the marks. */
export function useRefresh(): void {
  const { marks } = useTerminal();
  useStore(marks.sample);
}

/** The sum of the figures in the table, which are rounded to cents. */
export function useUnrealized(): number {
  const terminal = useTerminal();
  const positions = useStore(terminal.account.positions);
  useRefresh();
  let cents = 0;
  for (const position of positions?.values() ?? []) {
    cents += Math.round(livePosition(terminal, position).unrealized * 100);
  }
  return cents / 100;
}
