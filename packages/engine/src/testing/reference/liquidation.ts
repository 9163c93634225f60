/**
 * "Tick", step 3, and "Liquidating (account, market)": who is liquidated, and the rounds.
 */
import { TRADE_LIQUIDATION } from "../../events/event-table.js";
import { END } from "../../reasons.js";
import { bankruptcyPrice, closeLots } from "./bankruptcy.js";
import { emit, touch } from "./end-events.js";
import { reducingSide } from "./fills.js";
import { settleFunding } from "./funding.js";
import { abs, ceilDiv, floorDiv, max, min, num } from "./integers.js";
import {
  equityOf,
  isLiquidatable,
  isLive,
  lotAtMark,
  MILLION,
  maintenance,
  maintenanceOf,
  netEquityOf,
  unitOf,
} from "./margin.js";
import { match } from "./matching.js";
import { endOrders, settle } from "./settle.js";
import {
  accountOf,
  type Market,
  marketOf,
  type Position,
  positionOf,
  rulesOf,
  type State,
} from "./state.js";
import { type TakenOver, takeOver } from "./takeover.js";
import { mayMeet, serveMarket } from "./work.js";

/** Orders after whose cancels no further liquidation is begun. */
const CANCELS = 4_096;

/** What a liquidation that waits may be short of without keeping orders from trading. */
const TEN_DOLLARS = 10_000_000n;

/** Phase 3. Of all that are due, those with the largest shortfall; the others wait. */
export function liquidations(state: State): void {
  const { work, budget, liquidatedOrders } = state;
  if (budget === 0 || work.spent >= work.limit || liquidatedOrders >= CANCELS) return;
  const list: { position: Position; shortfall: bigint }[] = [];
  for (const market of state.markets) {
    if (!isLive(state, market)) continue;
    for (const { number: account } of state.accounts) {
      const position = positionOf(state, account, market.number);
      if (!isLiquidatable(state, position)) continue;
      const shortfall = maintenanceOf(market, position.lots) - netEquityOf(market, position);
      list.push({ position, shortfall });
    }
  }
  // The sort is stable: equal shortfalls stay in order of market, then account.
  list.sort((a, b) => (a.shortfall === b.shortfall ? 0 : a.shortfall > b.shortfall ? -1 : 1));
  const chosen = list.slice(0, budget);
  const least = chosen.length === budget ? (chosen.at(-1)?.shortfall ?? 0n) : 0n;
  const waiting = new Set<number>();
  for (const { position, shortfall } of chosen) {
    if (!isLiquidatable(state, position) || serve(state, position)) continue;
    if (shortfall > TEN_DOLLARS) waiting.add(position.market);
  }
  if (least > TEN_DOLLARS) return;
  for (const market of state.markets) {
    if (isLive(state, market) && !waiting.has(market.number)) market.settledMark = market.mark;
  }
}

/** Whether its turn came and it is not due any more. */
function serve(state: State, position: Position): boolean {
  if (state.liquidatedOrders >= CANCELS) return false;
  serveMarket(state, position.market);
  if (!mayMeet(state)) return false;
  state.budget -= 1;
  liquidate(state, position);
  return !isLiquidatable(state, position);
}

function liquidate(state: State, position: Position): void {
  const market = marketOf(state, position.market);
  touch(state, position);
  settleFunding(state, position);
  // "A liquidation cancels it only if the position ends."
  const others = position.orders.filter(({ extra }) => extra?.closePosition !== true);
  const before = state.endedBySettle;
  const canceled = endOrders(state, others, END.liquidation);
  state.liquidatedOrders += canceled + state.endedBySettle - before;
  while (isLiquidatable(state, position) && mayMeet(state)) {
    liquidationRound(state, market, position);
  }
  settle(state, position.account, position.market);
}

function liquidationRound(state: State, market: Market, position: Position): void {
  const target = targetLots(state, market, position);
  const closed = closeInBook(state, market, position, target);
  const unfilled = target - closed.lots;
  const charge = ceilDiv(closed.notional * rulesOf(state).liquidationFeePpm, MILLION);
  // Step 3.
  let fee = 0n;
  let taken: TakenOver = { backstop: 0n, deleveraged: 0n, dust: 0n };
  if (position.lots === 0n) {
    fee = min(charge, position.margin);
    state.fund += fee;
    accountOf(state, position.account).wallet += position.margin - fee;
    position.margin = 0n;
  } else if (unfilled > 0n && !closed.interrupted && isLiquidatable(state, position)) {
    taken = takeOver(state, market, position, unfilled);
  } else {
    const spare = equityOf(market, position) - maintenanceOf(market, position.lots) - 1n;
    fee = min(charge, max(0n, min(spare, position.margin)));
    position.margin -= fee;
    state.fund += fee;
  }
  // Step 4.
  emit(state, {
    kind: "Liquidated",
    account: position.account,
    market: position.market,
    closedLots: num(closed.lots),
    feeMicros: num(fee),
    backstopLots: num(taken.backstop),
    deleveragedLots: num(taken.deleveraged),
    dustMicros: num(taken.dust),
  });
}

/** Step 1: down to the highest lower tier bound that leaves it safe, else everything. */
export function targetLots(state: State, market: Market, position: Position): bigint {
  const notional = abs(position.lots) * lotAtMark(market);
  const equity = equityOf(market, position);
  for (const tier of [...market.config.tiers].reverse()) {
    const bound = BigInt(tier.upToMicros);
    if (bound >= notional) continue;
    const fee = ceilDiv((notional - bound) * rulesOf(state).liquidationFeePpm, MILLION);
    if (equity - fee > maintenance(market, bound)) {
      return abs(position.lots) - floorDiv(bound, lotAtMark(market));
    }
  }
  return abs(position.lots);
}

/** Step 2: the matching loop up to the bankruptcy price, recomputed before each maker. */
function closeInBook(
  state: State,
  market: Market,
  position: Position,
  target: bigint,
): { lots: bigint; notional: bigint; interrupted: boolean } {
  const side = reducingSide(position.lots);
  const closed = { lots: 0n, notional: 0n };
  const stopped = match(state, market, {
    side,
    kind: TRADE_LIQUIDATION,
    account: position.account,
    orderId: 0,
    stop: (price) => {
      if (closed.lots === target || price === null) return END.none;
      const limit = bankruptcyPrice(market, position);
      return (side > 0 ? price > limit : price < limit) ? END.none : null;
    },
    want: () => target - closed.lots,
    fillable: (lots) => ({ lots, reason: END.none }),
    fill: (lots, price) => {
      closed.lots += lots;
      closed.notional += lots * price * unitOf(market);
      return { fee: 0n, pnl: closeLots(market, position, lots, price) };
    },
    // Step 8 of the loop settles the maker's account only.
    settle: () => {},
  });
  return { ...closed, interrupted: stopped === END.fill_limit };
}
