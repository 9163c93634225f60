/**
 * A copy of everything that matching can change, to return to: the plain way to undo a fill-or-kill
 * order. Objects that refer to each other still do so in the copy; references from before it are void.
 */
import type { Account, Market, State } from "./state.js";

export interface Savepoint {
  readonly accounts: Account[];
  readonly markets: Market[];
  readonly fund: bigint;
  readonly fees: bigint;
  readonly fundingPool: bigint;
  readonly events: number;
}

export function save(state: State): Savepoint {
  const { accounts, fund, fees, fundingPool } = state;
  // The accepted indexes are many, and no order changes them.
  const markets = state.markets.map((market) => ({ ...market, accepted: [] }));
  const copy = structuredClone({ accounts, markets });
  return { ...copy, fund, fees, fundingPool, events: state.events.length };
}

/** Returns to the state of the copy, which is used up by that. */
export function recall(state: State, saved: Savepoint): void {
  const { accounts, fund, fees, fundingPool } = saved;
  const markets = saved.markets.map((market, i) => {
    market.accepted = state.markets[i]?.accepted ?? [];
    return market;
  });
  Object.assign(state, { accounts, markets, fund, fees, fundingPool });
  state.undone = state.events.splice(saved.events);
  state.touched = [];
  state.resizedExits.clear();
}
