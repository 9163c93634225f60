/**
 * "Events at the end of a command": the list of touched (account, market) pairs in order of first
 * touch, and the `PositionSettled` and `FundChanged` events it becomes.
 */
import type { VenueEvent } from "../../events/event-table.js";
import { num } from "./integers.js";
import { accountOf, type Position, rulesOf, type State } from "./state.js";
import { followPosition, lineUpExits } from "./stop-lines.js";

export function emit(state: State, event: VenueEvent): void {
  state.events.push(event);
}

export function touch(state: State, position: Position): void {
  if (!state.touched.includes(position)) state.touched.push(position);
}

export function reservedIn(position: Position): bigint {
  return position.orders.reduce((sum, order) => sum + order.reserve, 0n);
}

/** The work units of a command that took more than an ordinary one, for its account. */
export function reportWork(state: State): void {
  const { spent: units, account } = state.work;
  if (account === null || !rulesOf(state).workOfOrders || units <= 40) return;
  emit(state, { kind: "WorkDone", account, units });
}

/** After all other work of the command, with the final values. */
export function settleEvents(state: State, before: { fund: bigint; fees: bigint }): void {
  const resized = [...state.resizedExits].sort((a, b) => a.id - b.id);
  for (const order of resized) {
    const { orders } = accountOf(state, order.account).positions[order.market]!;
    if (!orders.includes(order)) continue;
    emit(state, {
      kind: "ExitSized",
      orderId: order.id,
      account: order.account,
      market: order.market,
      remainingLots: num(order.remaining),
    });
  }
  state.resizedExits.clear();
  lineUpExits(state);
  for (const position of state.touched) followPosition(state, position);
  for (const position of state.touched) {
    emit(state, {
      kind: "PositionSettled",
      account: position.account,
      market: position.market,
      lots: num(position.lots),
      costMicros: num(position.cost),
      marginMicros: num(position.margin),
      reservedMicros: num(reservedIn(position)),
      realizedMicros: num(position.realized),
      fundingMicros: num(position.funding),
      walletMicros: num(accountOf(state, position.account).wallet),
    });
  }
  state.touched = [];
  if (state.fund !== before.fund || state.fees !== before.fees) {
    emit(state, {
      kind: "FundChanged",
      fundMicros: num(state.fund),
      feesMicros: num(state.fees),
    });
  }
  reportWork(state);
}
