/**
 * "Tick": the phases in their order, and the seal of "Position, time, blocks".
 */
import type { Tick } from "../../commands.js";
import { HOUR_MS, LIQUIDATIONS_AND_STOPS_PER_COMMAND, MAX_LEAD_MS, TICK_MS } from "../../config.js";
import { END } from "../../reasons.js";
import { reduceBackstop } from "./backstop.js";
import { disconnect } from "./disconnects.js";
import { emit, settleEvents } from "./end-events.js";
import { sampleFund } from "./fund-budget.js";
import { applyFunding } from "./funding.js";
import { beginLiquidations, endLiquidations, liquidations } from "./liquidation.js";
import { isLive, isStopped } from "./margin.js";
import { tickMark } from "./mark.js";
import { sweepMarkets } from "./market-control.js";
import { openOrders } from "./open-orders.js";
import { endInRounds } from "./over.js";
import { forgetConnections } from "./presence.js";
import { endOrders } from "./settle.js";
import { rulesOf, type Session, type State } from "./state.js";
import { endStops, stops } from "./stops.js";
import { shedBackstop } from "./takeover.js";
import { expireOrders } from "./terms.js";
import { allot, beginTick, fairShare } from "./work.js";
import { tickDisconnects, tickWriters } from "./writers.js";

const SWITCHES = 256;
const SESSIONS = 256;
const CANCELS_PER_TICK = 1_024;

export function tick(state: State, command: Tick): void {
  // Of a batch only the first is applied.
  if (state.ticksOfBatch !== null) {
    state.ticksOfBatch += 1;
    if (state.ticksOfBatch > 1) return;
  }
  const at = command.slot * TICK_MS;
  if (at <= state.lastTick || at > state.lastTick + MAX_LEAD_MS) return;
  state.time = Math.max(state.time, at);
  state.lastTick = at;
  beginTick(state);
  state.budget = LIQUIDATIONS_AND_STOPS_PER_COMMAND;
  beginLiquidations(state, LIQUIDATIONS_AND_STOPS_PER_COMMAND);
  const before = { fund: state.fund, fees: state.fees };

  // 0. What is carried over of lost connections.
  tickDisconnects(state);
  const closing = closedNow(state);
  const lost = closing.filter((session) => session.cancelOnDisconnect);
  const { endsInRounds } = rulesOf(state);
  if (endsInRounds) {
    disconnect(state, lost);
    endInRounds(state);
  }
  // Controls of markets that are not done yet.
  sweepMarkets(state);
  if (!endsInRounds) expireOrders(state);
  // 1. Mark and premium.
  for (const market of state.markets) if (isLive(state, market)) tickMark(state, market);
  sampleFund(state);
  const share = fairShare(state);
  allot(state, (3 * share) / 8);
  // 2. Funding, each hour once.
  while (state.nextFundingAt <= state.time) {
    for (const market of state.markets) {
      if (!isStopped(market)) applyFunding(state, market, state.nextFundingAt);
      market.premiumSum = 0n;
      market.premiumCount = 0n;
      market.liveTicks = 0n;
    }
    liquidations(state);
    state.nextFundingAt += HOUR_MS;
  }
  // 3. to 5.
  liquidations(state);
  allot(state, share / 2);
  for (const market of state.markets) {
    reduceBackstop(state, market);
    shedBackstop(state, market);
  }
  allot(state, share);
  const again = stops(state);
  if (rulesOf(state).takesTurns) {
    allot(state, 8_000);
    endLiquidations(state);
    endStops(state, again);
  }
  // 6.
  if (!endsInRounds) {
    fireSwitches(state);
    disconnect(state, lost);
  }
  closeSessions(state, closing);
  tickWriters(state);
  // 7.
  settleEvents(state, before);
  seal(state);
}

function fireSwitches(state: State): void {
  const due = state.accounts
    .filter((account) => account.cancelAt !== 0 && account.cancelAt <= state.time)
    .sort((a, b) => a.cancelAt - b.cancelAt || a.number - b.number);
  let canceled = 0;
  for (const account of due.slice(0, SWITCHES)) {
    if (canceled >= CANCELS_PER_TICK) break;
    emit(state, { kind: "CancelAfterFired", account: account.number });
    canceled += endOrders(state, openOrders(account), END.cancel_after);
    account.cancelAt = 0;
  }
}

function closeSessions(state: State, expired: readonly Session[]): void {
  for (const session of expired) {
    state.sessions.delete(session.number);
    forgetConnections(state, session.number);
    emit(state, { kind: "SessionClosed", session: session.number, expired: 1 });
  }
}

/** Expired sessions that this tick closes. */
function closedNow(state: State): Session[] {
  return [...state.sessions.values()]
    .filter((session) => session.expiresAt <= state.time)
    .sort((a, b) => a.expiresAt - b.expiresAt || a.number - b.number)
    .slice(0, SESSIONS);
}

function seal(state: State): void {
  const { block } = state;
  if (!block.executed) return;
  emit(state, {
    kind: "BlockSealed",
    number: block.number,
    firstPosition: block.firstPosition,
    lastPosition: state.position,
    ackCount: block.acks,
    timeMs: state.time,
  });
  state.block = {
    number: block.number + 1,
    firstPosition: state.position + 1,
    acks: 0,
    executed: false,
  };
}
