/** PnL by the current mark, between two frames of the positions stream. */

import type { Position } from "@perpgate/protocol";
import { useEffect, useState } from "react";
import { useStore } from "../state/store.js";
import { type Terminal, useTerminal } from "../terminal.js";

const REFRESH_MS = 250;

export interface LivePosition {
  readonly mark: number;
  readonly unrealized: number;
  /** Of the margin at entry. */
  readonly share: number;
}

export function livePosition({ marketFeed }: Terminal, position: Position): LivePosition {
  const { symbol, size, avgEntry, margin, markPrice } = position;
  const mark = marketFeed.ticker(symbol).get()?.mark ?? markPrice;
  const unrealized = size * (mark - avgEntry);
  return { mark, unrealized, share: margin > 0 ? unrealized / margin : 0 };
}

/** Renders the component four times a second: a number that changes faster cannot be read. */
export function useRefresh(): void {
  const [, refresh] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => refresh((round) => round + 1), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
}

export function useUnrealized(): number {
  const terminal = useTerminal();
  const positions = useStore(terminal.account.positions);
  useRefresh();
  let sum = 0;
  for (const position of positions?.values() ?? []) {
    sum += livePosition(terminal, position).unrealized;
  }
  return sum;
}
