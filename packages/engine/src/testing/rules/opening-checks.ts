/** What an account opens must be allowed, at every fill. */
import { STOP_ORDER } from "../../commands.js";
import { abs, maintenanceOf, max, min, tierLeverage, topTier } from "./arithmetic.js";
import { type Fill, isForced } from "./fills.js";
import { type Check, markUnit, type Step } from "./step.js";

const STALE_MS = 10_000;

/** Fills with an order of the account that open lots. */
function openings({ replay }: Step): Fill[] {
  return replay.fills.filter((fill) => fill.opened > 0n && !isForced(fill));
}

function describe({ account, order, trade, opened }: Fill): string {
  return `account ${account}, order ${order?.id}: ${opened} of ${trade.lots} lots at ${trade.priceTicks} opened`;
}

function forOpenings(rule: string, fault: (fill: Fill, step: Step) => string | null): Check {
  return {
    rule,
    faults: (step) =>
      openings(step).flatMap((fill) => {
        const found = fault(fill, step);
        return found === null ? [] : [`${describe(fill)}: ${found}`];
      }),
  };
}

/** Notional of the position after the fill, at mark. */
function heldAfter(fill: Fill, step: Step): bigint {
  return abs(fill.after.lots) * markUnit(step, step.after, fill.trade.market);
}

/** Σ|positions| at mark when the fill was done; other markets at the lower of their two marks. */
function exposure(fill: Fill, step: Step): bigint {
  let sum = heldAfter(fill, step);
  step.after.markets.forEach((_, market) => {
    if (market === fill.trade.market) return;
    const unit = min(markUnit(step, step.before, market), markUnit(step, step.after, market));
    const was = step.before.markets[market]!.positions.get(fill.account)?.lots ?? 0;
    const is = step.after.markets[market]!.positions.get(fill.account)?.lots ?? 0;
    sum += min(abs(BigInt(was)), abs(BigInt(is))) * unit;
  });
  return sum;
}

const cohort = forOpenings("cohort: others are refused orders that open", (fill, { record }) =>
  record.isAdmitted(fill.account) ? null : `stage ${record.stage}, not admitted`,
);

const notionalCap = forOpenings(
  "caps: at every fill session maxNotional, positions only",
  (fill, step) => {
    const cap = BigInt(fill.order?.caps.maxNotionalMicros ?? 0);
    if (cap === 0n) return null;
    const held = exposure(fill, step);
    return held <= cap ? null : `positions ${held}, maxNotional ${cap}`;
  },
);

/** Sums what an order has opened so far (a stop: at its own price), and compares it with its bounds. */
function orderBound(rule: string, isStop: boolean): Check {
  return {
    rule,
    faults: (step) =>
      openings(step).flatMap((fill) => {
        const { order, trade, opened } = fill;
        if (order === undefined || (order.type === STOP_ORDER) !== isStop) return [];
        const { openedMicros, cappedMicros, config } = step.record;
        const unit = BigInt(config.markets[trade.market]!.microsPerTickLot);
        const ticks = BigInt(isStop ? order.priceTicks : trade.priceTicks);
        const sum = (openedMicros.get(order.id) ?? 0n) + opened * ticks * unit;
        openedMicros.set(order.id, sum);
        // A stop within its cap at its own price is accepted for its lots; an exit counts as it fills.
        const least = ticks < trade.priceTicks ? ticks : BigInt(trade.priceTicks);
        const capped = (cappedMicros.get(order.id) ?? 0n) + opened * least * unit;
        cappedMicros.set(order.id, capped);
        // An amendment keeps the lots, whatever they cost at the new price; a size is no money.
        const isByMoney = order.sizeLots === 0 && !order.isAmended;
        const bound = BigInt(order.marginMicros) * BigInt(order.leverage);
        const cap = BigInt(order.caps.maxOrderNotionalMicros);
        if (isByMoney && sum > bound)
          return [`${describe(fill)}: ${sum} in all, margin × leverage ${bound}`];
        if (cap === 0n || capped <= cap) return [];
        return [`${describe(fill)}: ${capped} in all, cap ${cap}`];
      }),
  };
}

const orderCap = orderBound(
  "caps: opening fills never exceed margin × leverage, nor maxOrderNotional",
  false,
);

/** "Lots = floor(notional / price), kept": a stop's lots are worth its money at its own price. */
const stopCap = orderBound("caps: a triggered stop opens at most its kept lots", true);

const tiers = forOpenings(
  "tiers: at every fill tier leverage of |position| after the fill",
  (fill, step) => {
    const held = heldAfter(fill, step);
    const most = tierLeverage(step.record.config.markets[fill.trade.market]!, held);
    const { leverage } = fill.order!;
    return leverage <= most ? null : `leverage ${leverage}, ${most} allowed at ${held}`;
  },
);

const limit = forOpenings("position ≤ the top tier", (fill, step) => {
  const held = heldAfter(fill, step);
  const top = topTier(step.record.config.markets[fill.trade.market]!);
  return held <= top ? null : `position ${held}, top tier ${top}`;
});

const stale = forOpenings(
  "an index older than 10 s stops takers that open",
  ({ isTaker, trade }, { record, after }) => {
    const age = after.timeMs - record.feeds[trade.market]!.observedMs;
    return !isTaker || age <= STALE_MS ? null : `index ${age} ms old`;
  },
);

const maintained = forOpenings(
  "an opening fill leaves equity > maintenance",
  ({ after, trade }, step) => {
    const unit = markUnit(step, step.after, trade.market);
    const equity = after.margin + after.lots * unit - after.cost;
    const config = step.record.config.markets[trade.market]!;
    const needed = maintenanceOf(config, abs(after.lots) * unit);
    return equity > needed ? null : `equity ${equity}, maintenance ${needed}`;
  },
);

/** Lots that open for both accounts count; the sum of the longs is replayed with the fills. */
const openInterest: Check = {
  rule: "open interest ≤ maxOpenInterest at fills for lots that open on both sides",
  faults(step) {
    const faults: string[] = [];
    step.after.markets.forEach((_, market) => {
      const cap = BigInt(step.record.config.markets[market]!.maxOpenInterestMicros);
      const unit = markUnit(step, step.after, market);
      let longs = longLots(step, market);
      const { fills } = step.replay;
      for (let i = 0; i + 1 < fills.length; i += 2) {
        const pair = [fills[i]!, fills[i + 1]!];
        if (pair[0]!.trade.market !== market) continue;
        for (const { before, after } of pair) longs += max(0n, after.lots) - max(0n, before.lots);
        const both = pair.every((fill) => fill.opened > 0n && !isForced(fill));
        if (!both || longs * unit <= cap) continue;
        faults.push(`${describe(pair[0]!)}: open interest ${longs * unit}, cap ${cap}`);
      }
    });
    return faults;
  },
};

function longLots({ before }: Step, market: number): bigint {
  const { positions, backstopLots } = before.markets[market]!;
  let sum = max(0n, BigInt(backstopLots));
  for (const { lots } of positions.values()) sum += max(0n, BigInt(lots));
  return sum;
}

const reduceOnly = forOpenings("reduceOnly never opens or flips", ({ order }) =>
  order?.reduceOnly ? "order is reduceOnly" : null,
);

const reduceOnlyMarket = forOpenings(
  "controls: nothing opens in a reduce-only market",
  (fill, { record }) =>
    record.actions[fill.trade.market] === "reduceOnly" ? "market is reduce-only" : null,
);

const haltedMarket: Check = {
  rule: "controls: nothing trades in a market that is halted or settled",
  faults: ({ replay, record }) =>
    replay.fills.flatMap(({ trade, account }) => {
      const action = record.actions[trade.market]!;
      return action === "halt" || action === "settle"
        ? [`account ${account}: after ${action}`]
        : [];
    }),
};

export const OPENING_CHECKS: readonly Check[] = [
  cohort,
  notionalCap,
  orderCap,
  stopCap,
  tiers,
  limit,
  stale,
  maintained,
  openInterest,
  reduceOnly,
  reduceOnlyMarket,
  haltedMarket,
];
