/** Placement, exits, the book, funding, and the work of one command. */
import { LIMIT_ORDER, MARKET_ORDER, type PlaceOrder, STOP_ORDER } from "../../commands.js";
import { Engine } from "../../engine.js";
import { END_REASONS } from "../../reasons.js";
import { plainOrder } from "../commands.js";
import { abs, max, min } from "./arithmetic.js";
import { isExit } from "./exit-ledger.js";
import { openingLots } from "./money-checks.js";
import { isReached } from "./service-checks.js";
import { type Check, eventsOf, markUnit, positionIn, refusalOf, type Step } from "./step.js";
import type { View } from "./view.js";

const NEVER_FOR_A_REDUCTION: ReadonlySet<string> = new Set([
  "not_in_cohort",
  "stale_index",
  "insufficient_margin",
  "session_notional_cap_exceeded",
  "position_limit",
  "leverage_above_tier",
  "notional_too_small",
  "open_interest_limit",
]);

/** The most money with which a market order against the position cannot open anything. */
function closingMicros(step: Step, view: View, market: number, lots: number): bigint {
  const { mark, ask } = view.markets[market]!;
  const { microsPerTickLot, bandPpm } = step.record.config.markets[market]!;
  const lowest = BigInt(Math.floor(mark * (1 - bandPpm / 1_000_000)) - 1);
  const price = lots > 0 ? lowest : min(lowest, BigInt(ask || mark));
  return abs(BigInt(lots)) * price * BigInt(microsPerTickLot);
}

function isReduction(command: PlaceOrder, step: Step): boolean {
  const account = accountOf(step, command.session);
  const { lots } = positionIn(step.before, command.market, account);
  if (lots * command.side >= 0) return false;
  if (command.reduceOnly) return true;
  const { sizeLots = 0 } = command.extras ?? {};
  if (sizeLots > 0) return sizeLots <= Math.abs(lots);
  const notional = BigInt(command.marginMicros) * BigInt(command.leverage);
  return notional <= closingMicros(step, step.before, command.market, lots);
}

function accountOf(step: Step, session: number): number {
  return step.engine.state.sessions.get(session)?.account ?? 0;
}

function neverRefused(rule: string, reasons: ReadonlySet<string>): Check {
  return {
    rule,
    faults(step) {
      const { command } = step;
      const refusal = refusalOf(step);
      if (command.kind !== "PlaceOrder" || command.type !== MARKET_ORDER || refusal === null) {
        return [];
      }
      return reasons.has(refusal) && isReduction(command, step) ? [`refused: ${refusal}`] : [];
    },
  };
}

const reductions = neverRefused(
  "exits: a reduction is never refused for cohort, staleness, maxNotional or funds",
  NEVER_FOR_A_REDUCTION,
);

const cappedReductions = neverRefused(
  "exits: a reduction is never refused for maxOrderNotional",
  new Set(["session_order_cap_exceeded"]),
);

const closingFunds: Check = {
  rule: "funds: a market order with a closing part is never refused for funds",
  faults(step) {
    const { command } = step;
    if (command.kind !== "PlaceOrder" || command.type !== MARKET_ORDER) return [];
    if (refusalOf(step) !== "insufficient_margin") return [];
    const { lots } = positionIn(step.before, command.market, accountOf(step, command.session));
    return lots * command.side < 0 ? [`position of ${lots} lots, refused for funds`] : [];
  },
};

const ALLOWED_ENDS: ReadonlySet<string> = new Set([
  "none",
  "band",
  "book_empty",
  "bankruptcy",
  "fill_limit",
  "below_lot",
  "not_filled",
  "reduce_only",
]);

/** After every eleventh command, one account tries to leave, on a copy of the venue. */
const exits: Check = {
  rule: "exits: any account can always close at market; only book, band, a held index and a jump limit it",
  faults(step) {
    if (step.seq % 11 !== 0) return [];
    const market = step.seq % step.after.markets.length;
    const holders = [...step.after.markets[market]!.positions].filter(([, p]) => p.lots !== 0);
    const held = holders[step.seq % Math.max(1, holders.length)];
    if (held === undefined || step.after.markets[market]!.halted) return [];
    if (!step.record.isFree(market)) return [];
    const [account, { lots }] = held;
    const session = step.engine.state.sessions.all().find((each) => each.account === account);
    if (session === undefined) return [];
    const isPlain = step.seq % 2 === 0;
    const most = Number(closingMicros(step, step.after, market, lots));
    const copy = Engine.restore(step.engine.snapshot(), step.limits.ruleSets);
    const events = copy
      .apply(
        plainOrder({
          stampMs: step.after.timeMs,
          session: session.number,
          key: session.key,
          nonce: 1e9 + step.seq,
          market,
          side: lots > 0 ? -1 : 1,
          marginMicros: isPlain ? Math.max(1, most) : 1e9,
          leverage: isPlain ? 1 : 5,
          reduceOnly: !isPlain,
        }),
      )
      .decode();
    const refusal = refusalOf({ events });
    if (refusal === "index_held" && hasJumped(step, market)) return [];
    // Of one lot, that money may not buy any.
    if (refusal !== null && !(isPlain && refusal === "size_below_lot")) {
      return [`account ${account}, ${lots} lots: ${refusal}`];
    }
    const reason = END_REASONS[eventsOf(events, "OrderAcknowledged")[0]?.reason ?? 0]!;
    return ALLOWED_ENDS.has(reason) ? [] : [`account ${account}, ${lots} lots: ended ${reason}`];
  },
};

/** Whether the mark is further from where liquidations were last done than any maintenance. */
function hasJumped({ engine, record }: Step, number: number): boolean {
  const { mark, settledMark } = engine.state.markets[number]!;
  const { maintenancePpm } = record.config.markets[number]!.tiers[0]!;
  return settledMark > 0 && Math.abs(mark - settledMark) * 1e6 > settledMark * maintenancePpm;
}

/** The order that a command left resting, with its opening lots. */
function restedOpening(step: Step): { account: number; market: number; lots: number } | null {
  const rested = eventsOf(step.events, "OrderRested")[0];
  const { kind } = step.command;
  if ((kind !== "PlaceOrder" && kind !== "AmendOrder") || rested === undefined) return null;
  const order = step.after.orders.find(({ id }) => id === rested.orderId);
  if (order === undefined) return null;
  for (const [each, lots] of openingLots(step.after, order.market, order.account)) {
    if (each.id === order.id) return { account: order.account, market: order.market, lots };
  }
  return null;
}

const restingJudged: Check = {
  rule: "at placement what would rest is judged by the closing capacity that is still free",
  faults(step) {
    const rested = restedOpening(step);
    const { record, after, command } = step;
    if (rested === null || rested.lots === 0 || !("session" in command)) return [];
    const { account, market, lots } = rested;
    const faults: string[] = [];
    if (!record.isAdmitted(account)) faults.push(`${lots} lots rest to open, not in the cohort`);
    const age = after.timeMs - record.feeds[market]!.observedMs;
    if (age > 10_000) faults.push(`${lots} lots rest to open, index ${age} ms old`);
    const { maxNotionalMicros } = record.caps.get(command.session)!;
    if (maxNotionalMicros > 0) {
      const sum = exposure(step, account);
      if (sum > BigInt(maxNotionalMicros)) {
        faults.push(`positions and resting ${sum}, maxNotional ${maxNotionalMicros}`);
      }
    }
    return faults;
  },
};

/** Positions at mark and what rests to open, over all markets. */
function exposure(step: Step, account: number): bigint {
  let sum = 0n;
  step.after.markets.forEach((_, market) => {
    const { lots } = positionIn(step.after, market, account);
    sum += abs(BigInt(lots)) * markUnit(step, step.after, market);
    const unit = BigInt(step.record.config.markets[market]!.microsPerTickLot);
    for (const [order, opening] of openingLots(step.after, market, account)) {
      sum += BigInt(opening) * BigInt(order.price) * unit;
    }
  });
  return sum;
}

const book: Check = {
  rule: "the book is never crossed; reduce-only orders face a position; open orders are limited",
  faults({ after, record }) {
    const faults = after.markets.flatMap(({ bid, ask }, market) =>
      bid > 0 && ask > 0 && bid >= ask ? [`market ${market}: ${bid} ≥ ${ask}`] : [],
    );
    const counts = new Map<string, number>();
    for (const order of after.orders) {
      const { account, market, side, isReduceOnly, isStop } = order;
      const key = `${account} ${market}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      const { lots } = positionIn(after, market, account);
      if (isReduceOnly && !isStop && lots * side >= 0) faults.push(`order ${order.id}: ${lots}`);
    }
    for (const [key, count] of counts) {
      if (count > record.config.maxOpenOrders) faults.push(`${key}: ${count} open orders`);
    }
    return faults;
  },
};

const smallest: Check = {
  rule: "orders below minNotional are refused, reductions exempt",
  faults(step) {
    return eventsOf(step.events, "OrderPlaced").flatMap((placed) => {
      const { market, account, marginMicros, leverage, side, reduceOnly } = placed;
      const { sizeLots = 0, closePosition = false } = step.record.placed.get(placed.orderId) ?? {};
      if (sizeLots > 0 || closePosition) return [];
      const least = step.record.config.markets[market]!.minNotionalMicros;
      const { lots } = positionIn(step.before, market, account);
      if (marginMicros * leverage >= least || reduceOnly === 1 || lots * side < 0) return [];
      return [`order ${placed.orderId}: ${marginMicros * leverage} below ${least}`];
    });
  },
};

const mark: Check = {
  rule: "mark within index ± half the lowest maintenance rate, fixed within a command",
  faults: ({ after, before, record, command }) =>
    after.markets.flatMap((market, m) => {
      const faults: string[] = [];
      const ppm = record.config.markets[m]!.tiers[0]!.maintenancePpm / 2;
      if (Math.abs(market.mark - market.index) * 1e6 > market.index * ppm + 1e6) {
        faults.push(`market ${m}: mark ${market.mark}, index ${market.index}`);
      }
      const isFixed = command.kind !== "Tick" && command.kind !== "UpdateIndex";
      if (isFixed && command.kind !== "Genesis" && market.mark !== before.markets[m]?.mark) {
        faults.push(`market ${m}: mark moved in ${command.kind}`);
      }
      return faults;
    }),
};

const stops: Check = {
  rule: "a stop triggers when the mark reaches its price",
  faults(step) {
    return eventsOf(step.events, "StopTriggered").flatMap(({ orderId, market }) => {
      const order = step.before.orders.find(({ id }) => id === orderId);
      if (order === undefined) return [`order ${orderId}: not pending before`];
      const { mark: reached } = step.after.markets[market]!;
      if (isReached(step, order)) return [];
      return [`order ${orderId}: mark ${reached}, price ${order.price}`];
    });
  },
};

const settled: Check = {
  rule: "funding: payer rounded up, receiver down, settled before lots change",
  faults(step) {
    const faults: string[] = [];
    for (const fill of step.replay.fills) {
      const { market } = fill.trade;
      const position = step.after.markets[market]!.positions.get(fill.account);
      if (position === undefined) continue;
      const { exact, hours, scale } = step.funding.total(fill.account, market);
      const difference = BigInt(position.funding) * scale - exact;
      // Less is paid only by a position whose margin was used up.
      const isCapped = fill.before.margin === 0n || position.margin === 0;
      if (difference > hours * scale || (difference < 0n && !isCapped)) {
        const owed = `${exact / scale} in ${hours} hours`;
        faults.push(`account ${fill.account}, market ${market}: ${position.funding}, owed ${owed}`);
      }
    }
    for (const { rate, market } of eventsOf(step.events, "FundingApplied")) {
      if (Math.abs(rate) > 5_000_000) faults.push(`market ${market}: rate ${rate}`);
    }
    return faults;
  },
};

const EXPLAINING: ReadonlySet<string> = new Set([
  "Liquidated",
  "FundingApplied",
  "FundingSettled",
  "LossSocialised",
  "CashSettled",
  "Traded",
]);

const fundIdle: Check = {
  rule: "fund: only liquidation, backstop, funding and settlement change it",
  faults({ command, before, after, events }) {
    const isExplained = events.some(({ kind }) => EXPLAINING.has(kind));
    const change = BigInt(after.fund) - BigInt(before.fund);
    const isSettling = command.kind === "ControlMarket" && command.action === "settle";
    if (change === 0n || isExplained || isSettling) return [];
    return [`${command.kind}: fund changed by ${change}`];
  },
};

const limits: Check = {
  rule: "limit and stop orders: lots × price ≤ margin × leverage",
  faults: ({ events, record }) =>
    eventsOf(events, "OrderPlaced").flatMap((placed) => {
      const { type, market, lots, priceTicks, marginMicros, leverage, side } = placed;
      if (type !== STOP_ORDER && !(type === LIMIT_ORDER && side > 0)) return [];
      const terms = record.placed.get(placed.orderId);
      if ((terms?.sizeLots ?? 0) > 0 || terms?.closePosition === true) return [];
      // The lots of an exit are its order's.
      if (isExit(placed.orderId)) return [];
      const unit = BigInt(record.config.markets[market]!.microsPerTickLot);
      const notional = BigInt(lots) * BigInt(priceTicks) * unit;
      const bound = BigInt(marginMicros) * BigInt(leverage);
      return notional <= max(0n, bound) ? [] : [`order ${placed.orderId}: ${notional} > ${bound}`];
    }),
};

export const ORDER_CHECKS: readonly Check[] = [
  reductions,
  cappedReductions,
  closingFunds,
  exits,
  restingJudged,
  book,
  smallest,
  mark,
  stops,
  settled,
  fundIdle,
  limits,
];
