/** The terms of orders: lives, sizes, client ids, stops that close, amendments, margin of positions. */
import { TRADE_ORDER } from "../../events/event-table.js";
import { abs, ceilDiv, maintenanceOf, min, tierLeverage } from "./arithmetic.js";
import { isExit } from "./exit-ledger.js";
import type { Fill } from "./fills.js";
import type { PlacedOrder } from "./placed-orders.js";
import { type Check, eventsOf, markUnit, positionIn, refusalOf, type Step } from "./step.js";
import type { OrderView } from "./view.js";

const STALE_MS = 10_000;
const EXPIRIES_PER_TICK = 1_024;

const killed: Check = {
  rule: "fok: all lots fill in its own command, or nothing happens",
  faults(step) {
    const { command, events, before, after } = step;
    if (command.kind !== "PlaceOrder" || command.extras?.timeInForce !== 2) return [];
    const [placed] = eventsOf(events, "OrderPlaced");
    const [ack] = eventsOf(events, "OrderAcknowledged");
    if (placed === undefined || ack === undefined) return [];
    const lots = command.reduceOnly ? placed.lots : command.extras.sizeLots;
    if (ack.filledLots === lots) return [];
    const faults = ack.filledLots === 0 ? [] : [`${ack.filledLots} of ${lots} lots filled`];
    if (eventsOf(events, "Traded").length > 0) faults.push("trades");
    if (eventsOf(events, "OrderEnded").length > 0) faults.push("other orders ended");
    if (JSON.stringify(before.orders) !== JSON.stringify(after.orders)) faults.push("other orders");
    return faults;
  },
};

const immediate: Check = {
  rule: "ioc and fok never rest",
  faults: ({ after, record }) =>
    after.orders.flatMap(({ id, isStop }) => {
      const isImmediate = (record.placed.get(id)?.timeInForce ?? 0) > 0;
      return isImmediate && !isStop ? [`order ${id} rests`] : [];
    }),
};

const expired: Check = {
  rule: "an order is never filled at or after expiresAt; a tick ends those that are due",
  faults(step) {
    const { after, replay, record, command, events } = step;
    const faults = replay.fills.flatMap(({ order }) => {
      // Once triggered, what closes the position does not expire.
      if (order === undefined || order.expiresAtMs === 0 || order.closePosition) return [];
      return after.timeMs < order.expiresAtMs ? [] : [`order ${order.id}: ${order.expiresAtMs}`];
    });
    if (command.kind !== "Tick" || events.length >= EXPIRIES_PER_TICK) return faults;
    for (const { id } of after.orders) {
      const order = record.placed.get(id);
      if (order === undefined || order.expiresAtMs === 0 || order.closePosition) continue;
      if (order.expiresAtMs <= after.timeMs) faults.push(`order ${id} is still open`);
    }
    return faults;
  },
};

const sized: Check = {
  rule: "an order fills no more than its size; with a margin, what opens needs no more than that",
  faults(step) {
    const { record, replay } = step;
    const faults: string[] = [];
    for (const fill of replay.fills) {
      const { order, trade, opened } = fill;
      if (order === undefined || order.closePosition || isExit(order.id)) continue;
      const filled = record.placed.filled.get(order.id) ?? 0;
      const isSized = order.sizeLots > 0 || order.isAmended;
      if (isSized && filled > order.lots) faults.push(`order ${order.id}: ${filled} lots`);
      if (order.sizeLots === 0 || order.marginMicros === 0 || opened === 0n) continue;
      const unit = BigInt(record.config.markets[trade.market]!.microsPerTickLot);
      const notional = opened * BigInt(trade.priceTicks) * unit;
      const spent = record.addOpened(order.id, notional);
      const needed = spent / BigInt(order.leverage);
      if (needed > BigInt(order.marginMicros)) faults.push(`order ${order.id}: opened ${needed}`);
    }
    return faults;
  },
};

/** What the account's orders say about themselves. */
function openTerms({ after, record }: Step): [OrderView, PlacedOrder][] {
  return after.orders.flatMap((view): [OrderView, PlacedOrder][] => {
    const placed = record.placed.get(view.id);
    return placed === undefined ? [] : [[view, placed]];
  });
}

const named: Check = {
  rule: "clientOrderId: unique among the account's open orders",
  faults(step) {
    const seen = new Set<string>();
    return openTerms(step).flatMap(([{ account, id }, { clientOrderId }]) => {
      const key = `${account} ${clientOrderId}`;
      if (clientOrderId === "" || !seen.has(key)) {
        seen.add(key);
        return [];
      }
      return [`order ${id}: ${clientOrderId}`];
    });
  },
};

const closing: Check = {
  rule: "closePosition: one per side and trigger, while there is or may come a position to close",
  faults(step) {
    const all = openTerms(step);
    const seen = new Set<string>();
    return all.flatMap(([{ id, account, market, side }, placed]) => {
      if (!placed.closePosition) return [];
      const key = `${account} ${market} ${side} ${placed.isTakeProfit}`;
      const faults = seen.has(key) ? [`order ${id}: a second one`] : [];
      seen.add(key);
      if (positionIn(step.after, market, account).lots * side < 0) return faults;
      const isAwaiting = all.some(
        ([other, terms]) =>
          other.account === account &&
          other.market === market &&
          other.side === -side &&
          !terms.reduceOnly &&
          !terms.closePosition,
      );
      return isAwaiting ? faults : [...faults, `order ${id}: nothing to close`];
    });
  },
};

/** An order that closes whatever there is never opens. */
const onlyCloses: Check = {
  rule: "closePosition closes the position and opens nothing",
  faults: ({ replay }) =>
    replay.fills.flatMap(({ order, opened }) =>
      order?.closePosition === true && opened > 0n ? [`order ${order.id}: ${opened} lots`] : [],
    ),
};

const limited: Check = {
  rule: "a triggered stop with a limit trades no worse than it, nor outside the band",
  faults: (step) =>
    step.replay.fills.flatMap((fill) => {
      const { order, trade } = fill;
      if (order === undefined || order.limitTicks === 0 || trade.tradeKind !== TRADE_ORDER)
        return [];
      const side = Number(fill.side);
      const beyond = (trade.priceTicks - order.limitTicks) * side;
      if (beyond > 0) return [`order ${order.id}: ${trade.priceTicks}, limit ${order.limitTicks}`];
      return isOutside(step, fill) ? [`order ${order.id}: ${trade.priceTicks}, band`] : [];
    }),
};

function isOutside({ after, record, command }: Step, { trade, isTaker, side }: Fill): boolean {
  if (command.kind !== "Tick" || !isTaker) return false;
  const { mark } = after.markets[trade.market]!;
  const reach = Math.floor((mark * record.config.markets[trade.market]!.bandPpm) / 1_000_000);
  return (trade.priceTicks - mark) * Number(side) > reach;
}

const amended: Check = {
  rule: "amend: the id stays; the rank stays if the price stays and the size does not grow",
  faults(step) {
    const { command, before, after, events } = step;
    if (command.kind !== "AmendOrder") return [];
    if (refusalOf(step) !== null) {
      const isSame = JSON.stringify(before.orders) === JSON.stringify(after.orders);
      return isSame ? [] : [`refused ${refusalOf(step)}, and changed`];
    }
    const [event] = eventsOf(events, "OrderAmended");
    if (event === undefined) return [];
    const was = before.orders.find(({ id }) => id === event.orderId);
    const is = after.orders.find(({ id }) => id === event.orderId);
    if (was === undefined) return [`order ${event.orderId} was not open`];
    if (is === undefined) return [];
    const isKept = is.price === was.price && event.remainingLots <= was.remaining;
    if (isKept && is.rank !== was.rank) return [`order ${is.id}: rank ${was.rank} → ${is.rank}`];
    const isNewest = after.orders.every(({ id, rank }) => id === is.id || rank < is.rank);
    return isKept || isNewest ? [] : [`order ${is.id}: rank ${is.rank} is not the newest`];
  },
};

const margins: Check = {
  rule: "margin: moves between wallet and position; removal leaves what the tier's leverage needs",
  faults(step) {
    const { command, before, after, record } = step;
    const [changed] = eventsOf(step.events, "MarginChanged");
    if (command.kind !== "ChangeMargin" || changed === undefined) return [];
    const { account, market, amountMicros } = changed;
    const faults: string[] = [];
    const paid = (before.wallets[account] ?? 0) - (after.wallets[account] ?? 0);
    if (amountMicros !== command.amountMicros) faults.push(`${amountMicros} moved`);
    if (paid !== amountMicros) faults.push(`wallet paid ${paid} for ${amountMicros}`);
    if (amountMicros > 0) return faults;
    const age = after.timeMs - record.feeds[market]!.observedMs;
    if (age > STALE_MS || record.feeds[market]!.isWaiting) faults.push(`index ${age} ms old`);
    if (record.feeds[market]!.hold !== null) faults.push("index held back");
    if (record.actions[market] !== "resume") faults.push(`market: ${record.actions[market]}`);
    const { lots, cost, margin } = positionIn(after, market, account);
    const unit = markUnit(step, after, market);
    const config = record.config.markets[market]!;
    const notional = abs(BigInt(lots)) * unit;
    const left = BigInt(margin) + min(0n, BigInt(lots) * unit - BigInt(cost));
    const needed = ceilDiv(notional, BigInt(tierLeverage(config, notional)));
    if (left < needed || left <= maintenanceOf(config, notional)) {
      faults.push(`${left} left, ${needed} needed`);
    }
    return faults;
  },
};

export const TERM_CHECKS: readonly Check[] = [
  killed,
  immediate,
  expired,
  sized,
  named,
  closing,
  onlyCloses,
  limited,
  amended,
  margins,
];
