/** The work of one command: its bounds, who is served first, and what waits for the next tick. */
import { type EventOf, TRADE_ADL, TRADE_BACKSTOP } from "../../events/event-table.js";
import { ceilDiv, max } from "./arithmetic.js";
import { isExit } from "./exit-ledger.js";
import { keyOf } from "./fills.js";
import { shortfall } from "./risk-checks.js";
import { type Check, eventsOf, positionIn, refusalOf, type Step } from "./step.js";
import type { OrderView, View } from "./view.js";

const STALE_MS = 10_000;
/** Rounding of funding between what is owed and what would be settled. */
const ROUNDING = 1n;

interface Due {
  readonly account: number;
  readonly market: number;
  /** Maintenance − equity. */
  readonly shortfall: bigint;
}

/** Whether triggers and liquidations may run in the market. */
function isServing({ record, after }: Step, market: number): boolean {
  const { observedMs, isWaiting } = record.feeds[market]!;
  if (after.markets[market]!.halted) return false;
  return record.isFree(market) && !isWaiting && after.timeMs - observedMs <= STALE_MS;
}

/** Positions that are due at the marks after the command, with the funding that they owe. */
function dueIn(step: Step, view: View): Due[] {
  return view.markets.flatMap(({ positions }, market) => {
    if (!isServing(step, market)) return [];
    return [...positions].flatMap(([account, position]) => {
      if (position.lots === 0) return [];
      const { exact, scale } = step.funding.total(account, market);
      const owed = ceilDiv(exact, scale) - BigInt(position.funding);
      const margin = BigInt(position.margin) - max(0n, owed);
      const [lots, cost] = [BigInt(position.lots), BigInt(position.cost)];
      const due = shortfall(step, market, { lots, margin, cost });
      return due <= ROUNDING ? [] : [{ account, market, shortfall: due }];
    });
  });
}

/** Pending stops that this tick or an earlier one has reached. */
function reachedIn(step: Step, view: View): OrderView[] {
  return view.orders.filter(
    (order) => order.isStop && isServing(step, order.market) && isReached(step, order),
  );
}

/** A stop that was reached stays so, wherever the mark goes. */
export function isReached(step: Step, { id, market, side, price, remaining }: OrderView): boolean {
  const { record, after, before, command } = step;
  if (isExit(id)) {
    // It waits for lots; those that it got in a tick are for the next one.
    if (remaining === 0) return false;
    const had = before.orders.find((order) => order.id === id)?.remaining ?? 0;
    if (command.kind === "Tick" && had === 0) return false;
  }
  if (record.reachedStops.has(id)) return true;
  const { mark } = after.markets[market]!;
  const isAbove = side > 0 !== (record.placed.get(id)?.isTakeProfit === true);
  return isAbove ? mark >= price : mark <= price;
}

/** What the book cannot take of a position is tried again, by a rule of its own. */
function closesPosition({ record }: Step, { id }: OrderView): boolean {
  return record.placed.get(id)?.closePosition === true;
}

/** Stops that the next tick should serve. */
function stopsLeft(step: Step): OrderView[] {
  return reachedIn(step, step.after).filter((order) => !closesPosition(step, order));
}

/** What a tick has left for the next one. */
export function carriedOver(step: Step): string[] {
  if (step.command.kind !== "Tick") return [];
  const names = dueIn(step, step.after).length > 0 ? ["carried over: liquidation"] : [];
  if (stopsLeft(step).length > 0) names.push("carried over: stop");
  return names;
}

/** Positions that have had a turn and are still due, for the record. */
export function turnsHad(step: Step): ReadonlySet<number> {
  const { record, command } = step;
  if (command.kind !== "Tick") return record.hadTurn;
  const now = liquidated(step);
  const due = dueIn(step, step.after).map(({ account, market }) => keyOf(account, market));
  return new Set(due.filter((key) => record.hadTurn.has(key) || now.has(key)));
}

/** Pending stops that a tick reaches, for the record. */
export function stopsReached(step: Step): number[] {
  return step.command.kind === "Tick" ? reachedIn(step, step.after).map(({ id }) => id) : [];
}

/** Positions liquidated, by account and market; each may have several rounds. */
function liquidated({ events }: Step): Set<number> {
  return new Set(
    eventsOf(events, "Liquidated").map(({ account, market }) => keyOf(account, market)),
  );
}

function servedIn(step: Step): number {
  return liquidated(step).size + eventsOf(step.events, "StopTriggered").length;
}

/**
 * Whether the tick may have met a limit: as much waited as it may serve, or it met or ended that many orders,
 * of which an exit with other lots is up to three quarters, and a stop that is triggered another one.
 */
function mayBeLimited(step: Step): boolean {
  const { events, before, limits } = step;
  const waiting = dueIn(step, before).length + reachedIn(step, before).length;
  if (Math.max(waiting, servedIn(step)) >= limits.served) return true;
  const ended = new Set(eventsOf(events, "OrderEnded").map(({ orderId }) => orderId));
  const turns = eventsOf(events, "StopTriggered").filter(({ orderId }) => !ended.has(orderId));
  const met = eventsOf(events, "Traded").length + ended.size + turns.length;
  // A stop waits unless it could meet somebody.
  const triggers = eventsOf(events, "StopTriggered").length;
  const sized = eventsOf(events, "ExitSized").length;
  return 4 * (met + triggers) + 3 * sized + 8 >= 4 * limits.makers;
}

const work: Check = {
  rule: "a command meets at most 2,000 makers, also a batch; serves at most 256 liquidations, and 256 stops of each market",
  faults(step) {
    const { events, limits, record, after } = step;
    const stops = after.markets.map((_, market) => {
      return eventsOf(events, "StopTriggered").filter((event) => event.market === market).length;
    });
    const served = Math.max(liquidated(step).size, ...stops);
    const faults = record.makersMet > limits.makers ? [`${record.makersMet} makers`] : [];
    if (served > limits.served) faults.push(`${served} liquidations and stops`);
    // Each maker: a trade, an end, two settlements; each served: an end per order of the account.
    if (events.length > 20_000) faults.push(`${events.length} events`);
    return faults;
  },
};

const allDue: Check = {
  rule: "a tick with a fresh index leaves nobody due, unless a limit was reached",
  faults(step) {
    if (step.command.kind !== "Tick" || mayBeLimited(step)) return [];
    return dueIn(step, step.after).map(
      (due) => `account ${due.account}, market ${due.market}: due by ${due.shortfall}`,
    );
  },
};

const allReached: Check = {
  rule: "a tick with a fresh index leaves no stop that was reached, unless a limit was reached",
  faults(step) {
    if (step.command.kind !== "Tick" || mayBeLimited(step)) return [];
    return stopsLeft(step).map(({ id }) => `order ${id} waits`);
  },
};

const untouched: Check = {
  rule: "a stop that was reached is not amendable",
  faults(step) {
    const { command, record } = step;
    if (command.kind !== "AmendOrder" || !record.reachedStops.has(command.orderId)) return [];
    const isPending = step.before.orders.some(({ id, isStop }) => id === command.orderId && isStop);
    return isPending && refusalOf(step) === null ? [`order ${command.orderId} was amended`] : [];
  },
};

/** Whether the account traded in the market during the command. */
function hasTraded({ replay }: Step, account: number, market: number): boolean {
  return replay.fills.some((fill) => fill.account === account && fill.trade.market === market);
}

const largestFirst: Check = {
  rule: "liquidations of a market: by maintenance − equity, largest first, among those without a turn",
  faults(step) {
    // Between two fundings of one tick other positions are due.
    if (step.command.kind !== "Tick" || eventsOf(step.events, "FundingApplied").length > 0)
      return [];
    const chosen = liquidated(step);
    const due = dueIn(step, step.before);
    const isServed = ({ account, market }: Due): boolean => chosen.has(keyOf(account, market));
    const served = due.filter((each) => isServed(each) && isAsBefore(step, each));
    const left = due.filter(
      (each) =>
        !isServed(each) &&
        !hasTraded(step, each.account, each.market) &&
        !step.record.hadTurn.has(keyOf(each.account, each.market)),
    );
    return left.flatMap(({ account, market, shortfall: waits }) =>
      served
        .filter((each) => each.market === market && each.shortfall + ROUNDING < waits)
        .map((each) => `account ${account} waits with ${waits}, served ${each.shortfall}`),
    );
  },
};

/** Whether a liquidated position was not traded with before its own liquidation. */
function isAsBefore({ replay, before }: Step, { account, market }: Due): boolean {
  const first = replay.fills.find(
    (fill) => fill.account === account && fill.trade.market === market,
  );
  const { lots } = positionIn(before, market, account);
  return first === undefined || (first.isTaker && first.before.lots === BigInt(lots));
}

/** Whether the position has all the lots that the stop would close. */
function coversAll(step: Step, { market, account, side, remaining }: OrderView): boolean {
  const { lots } = positionIn(step.before, market, account);
  return lots * side < 0 && remaining <= Math.abs(lots);
}

const closingFirst: Check = {
  rule: "stops: closing ones before others, in each market",
  faults(step) {
    if (step.command.kind !== "Tick") return [];
    const ids = new Set(eventsOf(step.events, "StopTriggered").map(({ orderId }) => orderId));
    if (ids.size === 0) return [];
    const isServed = ({ id }: OrderView): boolean => ids.has(id);
    const reached = reachedIn(step, step.before);
    // Which is which was decided when they were placed: of these it is certain.
    const served = reached.filter(
      (order) => isServed(order) && !step.record.traded.has(keyOf(order.account, order.market)),
    );
    const left = stopsLeft(step)
      .filter(({ account, market }) => !hasTraded(step, account, market))
      .filter((order) => order.isReduceOnly && coversAll(step, order));
    return left.flatMap((waits) =>
      served
        .filter((each) => each.market === waits.market)
        .map((each) => `order ${waits.id} waits, order ${each.id} was served`),
    );
  },
};

const notHandedOver: Check = {
  rule: "a liquidation that reaches the limit of makers stays due and is not handed over",
  faults({ events, limits, after }) {
    let met = 0;
    for (const trade of eventsOf(events, "Traded")) {
      const { tradeKind, makerOrderId, takerOrderId } = trade;
      const isTakeover = tradeKind === TRADE_BACKSTOP && makerOrderId + takerOrderId === 0;
      if ((tradeKind === TRADE_ADL || isTakeover) && met >= limits.makers) {
        // The limit does not matter where nobody else was to be met.
        const maker = after.orders.find((order) => isWithinPrice(trade, order));
        if (maker !== undefined)
          return [`handed over after ${met} makers, order ${maker.id} rests`];
      }
      if (makerOrderId > 0 && tradeKind !== TRADE_ADL) met++;
    }
    return [];
  },
};

/** Whether the order rests at a price no worse for the taker than that of the trade. */
function isWithinPrice(
  { market, takerSide, priceTicks }: EventOf<"Traded">,
  order: OrderView,
): boolean {
  if (order.market !== market || order.isStop || order.side !== -takerSide) return false;
  return (order.price - priceTicks) * takerSide <= 0;
}

export const SERVICE_CHECKS: readonly Check[] = [
  work,
  allDue,
  allReached,
  untouched,
  largestFirst,
  closingFirst,
  notHandedOver,
];
