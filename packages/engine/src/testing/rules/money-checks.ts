/** Money: conserved, never below zero, and each fill paid as the page says. */
import { abs, ceilDiv, max, min } from "./arithmetic.js";
import { isForced } from "./fills.js";
import { type Check, eventsOf, positionIn, type Step } from "./step.js";
import type { OrderView, View } from "./view.js";

const PPM = 1_000_000n;

const conserved: Check = {
  rule: "wallets + margins + reserves + fees + fund + fundingPool = deposits + Σ cost",
  faults({ after, record }) {
    let sum = BigInt(after.fees) + BigInt(after.fund) + BigInt(after.fundingPool);
    let cost = 0n;
    for (const wallet of after.wallets) sum += BigInt(wallet);
    for (const market of after.markets) {
      cost += BigInt(market.backstopCost);
      for (const position of market.positions.values()) {
        sum += BigInt(position.margin) + BigInt(position.reserved);
        cost += BigInt(position.cost);
      }
    }
    const faults: string[] = [];
    if (sum !== record.deposits + cost) faults.push(`${sum} ≠ ${record.deposits} + ${cost}`);
    if (BigInt(after.deposits) !== record.deposits) {
      faults.push(`deposits ${after.deposits}, credited ${record.deposits}`);
    }
    return faults;
  },
};

const balanced: Check = {
  rule: "every trade has two sides: Σ lots = 0 in each market, the backstop included",
  faults: ({ after, record }) =>
    after.markets.flatMap(({ positions, backstopLots }, market) => {
      // While a market is settled, position after position leaves it.
      if (record.actions[market] === "settle") return [];
      let sum = BigInt(backstopLots);
      for (const { lots } of positions.values()) sum += BigInt(lots);
      return sum === 0n ? [] : [`market ${market}: ${sum}`];
    }),
};

const solvent: Check = {
  rule: "wallets, margins and reserves are never negative",
  faults({ after }) {
    const faults = after.wallets.flatMap((wallet, account) =>
      wallet < 0 ? [`account ${account}: wallet ${wallet}`] : [],
    );
    after.markets.forEach(({ positions }, market) => {
      for (const [account, { margin, reserved, lots }] of positions) {
        if (margin < 0 || reserved < 0) {
          faults.push(`account ${account}, market ${market}: ${margin}, ${reserved}`);
        }
        if (lots === 0 && margin !== 0) faults.push(`account ${account}: margin without lots`);
      }
    });
    return faults;
  },
};

/** Accounts for whose money a forced trade, a liquidation or several fundings give no exact rule. */
function excluded({ replay, events }: Step): Set<number> {
  const accounts = new Set(eventsOf(events, "Liquidated").map(({ account }) => account));
  for (const fill of replay.fills) if (isForced(fill)) accounts.add(fill.account);
  return accounts;
}

const paid: Check = {
  rule: "an opening fill moves ceil(notional / leverage) + loss against mark; a fee leaves the wallet",
  faults(step) {
    if (eventsOf(step.events, "FundingApplied").length > step.after.markets.length) return [];
    const faults: string[] = [];
    const skipped = excluded(step);
    const changed = new Map<number, bigint>();
    const add = (account: number, micros: bigint): void => {
      changed.set(account, (changed.get(account) ?? 0n) + micros);
    };
    for (const fill of step.replay.fills) {
      if (skipped.has(fill.account)) continue;
      add(fill.account, fill.proceeds - fill.fee);
      const grown = fill.after.margin - (fill.opened > 0n ? marginKept(fill) : fill.after.margin);
      add(fill.account, -grown);
    }
    for (const [account, change] of changed) {
      const was = money(step.before, account);
      const is = money(step.after, account);
      if (is - was !== change) {
        faults.push(`account ${account}: wallet and reserves ${was} → ${is}, expected ${change}`);
      }
    }
    for (const [key, running] of step.replay.running) {
      const account = Math.floor(key / 64);
      if (account === 0 || skipped.has(account)) continue;
      const { lots, cost, margin } = positionIn(step.after, key % 64, account);
      if (
        BigInt(lots) !== running.lots ||
        BigInt(cost) !== running.cost ||
        BigInt(margin) !== running.margin
      ) {
        const expected = `${running.lots}/${running.cost}/${running.margin}`;
        faults.push(`account ${account}: ${lots}/${cost}/${margin}, expected ${expected}`);
      }
    }
    return faults;
  },
};

/** Margin that stays of the position before the fill. */
function marginKept(fill: {
  readonly before: { readonly lots: bigint; readonly margin: bigint };
  readonly closed: bigint;
}): bigint {
  const { lots, margin } = fill.before;
  if (fill.closed === 0n) return margin;
  return margin - (margin * fill.closed) / abs(lots);
}

function money(view: View, account: number): bigint {
  let sum = BigInt(view.wallets[account] ?? 0);
  for (const { positions } of view.markets) sum += BigInt(positions.get(account)?.reserved ?? 0);
  return sum;
}

const fees: Check = {
  rule: "taker and maker fee, rounded up to a micro; liquidations without taker fee",
  faults: (step) =>
    step.replay.fills.flatMap((fill) => {
      const config = step.record.config.markets[fill.trade.market]!;
      const ppm = BigInt(fill.isTaker ? config.takerFeePpm : config.makerFeePpm);
      const unit = BigInt(config.microsPerTickLot);
      const notional = BigInt(fill.trade.lots) * BigInt(fill.trade.priceTicks) * unit;
      const due = isForced(fill) ? 0n : ceilDiv(notional * ppm, PPM);
      // A fill that closes and opens may be rounded up twice.
      const most = fill.closed > 0n && fill.opened > 0n ? due + 1n : due;
      if (fill.fee >= due && fill.fee <= most) return [];
      return [`account ${fill.account}: fee ${fill.fee}, due ${due}`];
    }),
};

const notBankrupt: Check = {
  rule: "no voluntary fill is worse than the bankruptcy price: released + PnL ≥ fee",
  faults: (step) =>
    step.replay.fills.flatMap((fill) => {
      if (isForced(fill) || fill.closed === 0n || fill.opened > 0n) return [];
      if (fill.proceeds >= fill.fee) return [];
      return [`account ${fill.account}: ${fill.proceeds} for a fee of ${fill.fee}`];
    }),
};

/** Opening lots of each resting order of an account: capacity to close goes to the earliest. */
export function openingLots(view: View, market: number, account: number): Map<OrderView, number> {
  const { lots } = positionIn(view, market, account);
  const opening = new Map<OrderView, number>();
  let capacity = Math.abs(lots);
  const resting = view.orders
    .filter((order) => order.account === account && order.market === market && !order.isStop)
    .sort((a, b) => (a.rank || a.id) - (b.rank || b.id) || a.id - b.id);
  for (const order of resting) {
    const closing = order.side * lots < 0 ? Math.min(capacity, order.remaining) : 0;
    capacity -= closing;
    opening.set(order, order.isReduceOnly ? 0 : order.remaining - closing);
  }
  return opening;
}

const reserved: Check = {
  rule: "lots beyond closing capacity reserve margin and fee",
  faults({ after, record, events }) {
    const faults: string[] = [];
    const kinds = events.map(({ kind }) => kind);
    if (!kinds.some((kind) => kind.startsWith("Order") || kind === "Traded")) return faults;
    after.markets.forEach(({ positions }, market) => {
      const config = record.config.markets[market]!;
      const unit = BigInt(config.microsPerTickLot);
      for (const [account, position] of positions) {
        let least = 0n;
        let most = 0n;
        for (const [order, lots] of openingLots(after, market, account)) {
          const notional = BigInt(lots) * BigInt(order.price) * unit;
          const margin = ceilDiv(notional, BigInt(order.leverage));
          const rates = [BigInt(config.makerFeePpm), BigInt(config.takerFeePpm)] as const;
          least += margin + ceilDiv(notional * min(...rates), PPM);
          most += margin + ceilDiv(notional * max(...rates), PPM);
        }
        const kept = BigInt(position.reserved);
        if (kept < least || kept > most) {
          faults.push(`account ${account}, market ${market}: ${kept}, not ${least}…${most}`);
        }
      }
    });
    return faults;
  },
};

export const MONEY_CHECKS: readonly Check[] = [
  conserved,
  balanced,
  solvent,
  paid,
  fees,
  notBankrupt,
  reserved,
];
