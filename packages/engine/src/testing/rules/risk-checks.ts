/** Liquidation, deleveraging, the index guard, and who may be touched when. */
import { BACKSTOP_ACCOUNT, TRADE_ADL, TRADE_BACKSTOP } from "../../events/event-table.js";
import { abs, ceilDiv, floorDiv, maintenanceOf, max } from "./arithmetic.js";
import { type Fill, isForced, type Running } from "./fills.js";
import { type Check, eventsOf, markUnit, type Step } from "./step.js";
import type { View } from "./view.js";

const STALE_MS = 10_000;

/** Maintenance − equity at the mark; 0 or more: due. */
export function shortfall(step: Step, market: number, position: Running): bigint {
  const unit = markUnit(step, step.after, market);
  const equity = position.margin + position.lots * unit - position.cost;
  return maintenanceOf(step.record.config.markets[market]!, abs(position.lots) * unit) - equity;
}

/** First forced trade of each liquidated account, by market. */
function firstForced({ replay, events }: Step): Fill[] {
  const liquidated = new Set(
    eventsOf(events, "Liquidated").map(({ account, market }) => `${account} ${market}`),
  );
  const found: Fill[] = [];
  for (const fill of replay.fills) {
    const key = `${fill.account} ${fill.trade.market}`;
    if (!fill.isTaker || !isForced(fill) || !liquidated.delete(key)) continue;
    found.push(fill);
  }
  return found;
}

const onlyDue: Check = {
  rule: "liquidation when margin + unrealised PnL ≤ maintenance, not before",
  faults: (step) =>
    firstForced(step).flatMap((fill) => {
      if (fill.trade.tradeKind === TRADE_ADL) return [];
      const due = shortfall(step, fill.trade.market, fill.before);
      return due >= 0n ? [] : [`account ${fill.account}: ${-due} above maintenance`];
    }),
};

function servedMarkets({ events }: Step): [what: string, market: number][] {
  return [
    ...eventsOf(events, "Liquidated").map(({ market }): [string, number] => ["liquidated", market]),
    ...eventsOf(events, "StopTriggered").map(({ market }): [string, number] => [
      "triggered",
      market,
    ]),
  ];
}

const freshIndex: Check = {
  rule: "after a start or a resume, and with an index older than 10 s, no liquidation and no trigger",
  faults: (step) =>
    servedMarkets(step).flatMap(([what, market]) => {
      const { observedMs, isWaiting } = step.record.feeds[market]!;
      if (isWaiting) return [`market ${market}: ${what} before a fresh index`];
      const age = step.after.timeMs - observedMs;
      return age > STALE_MS ? [`market ${market}: ${what} with an index ${age} ms old`] : [];
    }),
};

const heldIndex: Check = {
  rule: "while an index is held: no order, amendment, trigger or liquidation, and the index stays",
  faults(step) {
    const { record, events, before, after } = step;
    const faults = servedMarkets(step).flatMap(([what, market]) =>
      record.feeds[market]!.hold === null ? [] : [`market ${market}: ${what} while held`],
    );
    for (const { market } of eventsOf(events, "OrderPlaced")) {
      if (record.feeds[market]!.hold !== null) faults.push(`market ${market}: placed while held`);
    }
    for (const { market } of eventsOf(events, "OrderAmended")) {
      if (record.feeds[market]!.hold !== null) faults.push(`market ${market}: amended while held`);
    }
    record.feeds.forEach(({ hold }, market) => {
      if (hold === null || before.markets[market]!.index === after.markets[market]!.index) return;
      faults.push(`market ${market}: index moved while held`);
    });
    return faults;
  },
};

/** (cost − margin) / lots for longs, up to the tick; shorts mirrored. */
function bankruptcyTicks({ lots, cost, margin }: Running, unit: bigint): bigint {
  if (lots > 0n) return ceilDiv(cost - margin, lots * unit);
  return floorDiv(-cost + margin, -lots * unit);
}

const bankruptcy: Check = {
  rule: "a liquidation closes no worse than the bankruptcy price, recomputed per fill",
  faults: (step) =>
    firstForced(step).flatMap((fill) => {
      const { trade, before, side } = fill;
      const unit = BigInt(step.record.config.markets[trade.market]!.microsPerTickLot);
      const bound = bankruptcyTicks(before, unit);
      const price = BigInt(trade.priceTicks);
      const isWorse = side < 0n ? price < bound : price > bound;
      return isWorse ? [`account ${fill.account}: ${price}, bankruptcy ${bound}`] : [];
    }),
};

const deleveraged: Check = {
  rule: "lots deleveraged never exceed what neither book nor backstop took; nobody is flipped",
  faults(step) {
    const faults: string[] = [];
    let reported = 0;
    for (const event of eventsOf(step.events, "Liquidated")) reported += event.deleveragedLots;
    let traded = 0;
    for (const fill of step.replay.fills) {
      if (!isForced(fill) || fill.account === BACKSTOP_ACCOUNT) continue;
      if (fill.trade.tradeKind === TRADE_ADL && fill.isTaker) traded += fill.trade.lots;
      if (fill.opened > 0n) faults.push(`account ${fill.account}: opened ${fill.opened} by force`);
    }
    if (traded !== reported) faults.push(`${traded} lots deleveraged, ${reported} reported`);
    return faults;
  },
};

/** Fund and backstop's unrealised PnL of a view, at the marks after the command. */
function fundWorth(step: Step, view: View): bigint {
  let worth = BigInt(view.fund);
  view.markets.forEach(({ backstopLots, backstopCost }, market) => {
    worth += BigInt(backstopLots) * markUnit(step, step.after, market) - BigInt(backstopCost);
  });
  return worth;
}

/** What each trade of the backstop and each liquidation fee adds to the fund's worth, in order. */
function fundSteps(step: Step): { readonly change: bigint; readonly isTakeover: boolean }[] {
  const { events, record, after } = step;
  return events.flatMap((event) => {
    if (event.kind === "Liquidated") {
      return [{ change: BigInt(event.feeMicros), isTakeover: false }];
    }
    if (event.kind !== "Traded" || event.tradeKind !== TRADE_BACKSTOP) return [];
    const { market, priceTicks, lots, takerSide, takerAccount } = event;
    const unit = BigInt(record.config.markets[market]!.microsPerTickLot);
    const side = BigInt(takerAccount === BACKSTOP_ACCOUNT ? takerSide : -takerSide);
    const gain = markUnit(step, after, market) - BigInt(priceTicks) * unit;
    // An order of the backstop itself reduces its position; a takeover has no orders.
    const isTakeover = event.makerOrderId === 0 && event.takerOrderId === 0;
    return [{ change: side * BigInt(lots) * gain, isTakeover }];
  });
}

/** Whether the backstop took over a position at a price worse than the mark. */
export function isTakingLoss(step: Step): boolean {
  return fundSteps(step).some(({ change, isTakeover }) => isTakeover && change < 0n);
}

const budget: Check = {
  rule: "fund budget: used in the last hour + loss taken over ≤ 2 % of the fund with the backstop",
  faults(step) {
    if (!isTakingLoss(step)) return [];
    const steps = fundSteps(step);
    const { fundLossPerHourPpm, fundSeedMicros } = step.record.config;
    const before = step.record.fundAnHourBefore(step.after.timeMs);
    let worth = fundWorth(step, step.before);
    // What else was booked to the fund, such as dust, may have been there before.
    const explained = steps.reduce((sum, { change }) => sum + change, worth);
    worth += max(0n, fundWorth(step, step.after) - explained);
    for (const { change, isTakeover } of steps) {
      const allowed = (max(0n, worth) * BigInt(fundLossPerHourPpm)) / 1_000_000n;
      const used = before - (worth - BigInt(fundSeedMicros));
      if (isTakeover && change < 0n && used - change > allowed) {
        return [`took over a loss of ${-change}, used ${used}, budget ${allowed}`];
      }
      worth += change;
    }
    return [];
  },
};

const cap: Check = {
  rule: "backstop: Σ|notional| ≤ cap after it takes over lots",
  faults(step) {
    const grew = step.replay.fills.some(
      (fill) => fill.account === BACKSTOP_ACCOUNT && fill.opened > 0n,
    );
    if (!grew) return [];
    let sum = 0n;
    step.after.markets.forEach(({ backstopLots }, market) => {
      sum += abs(BigInt(backstopLots)) * markUnit(step, step.after, market);
    });
    const allowed = BigInt(step.record.config.backstopCapMicros);
    return sum > allowed ? [`holds ${sum}, cap ${allowed}`] : [];
  },
};

export const RISK_CHECKS: readonly Check[] = [
  onlyDue,
  freshIndex,
  heldIndex,
  bankruptcy,
  deleveraged,
  budget,
  cap,
];
