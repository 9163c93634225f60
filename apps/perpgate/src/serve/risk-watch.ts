/**
 * The venue's risk for its operator: liquidations, funding and shared losses as log lines, liquidations
 * and the fund as metrics. They occur in ticks, so that orders pay nothing for it.
 */

import { gauged } from "@perpgate/gateway/metrics";
import { fromMicros } from "@perpgate/protocol/core";
import {
  type Applied,
  BACKSTOP_ACCOUNT,
  TRADE_ADL,
  type Venue,
  type VenueLogger,
} from "@perpgate/venue";
import { Counter, type Registry } from "prom-client";

export function watchRisk(venue: Venue, log: VenueLogger, registry: Registry): void {
  /** Every listed market has a value, since an alert does not see a counter's first one. */
  const perMarket = (name: string, help: string): Counter<"symbol"> =>
    new Counter({
      name,
      help,
      labelNames: ["symbol"],
      registers: [registry],
      collect() {
        for (const { symbol } of venue.listing.markets) this.inc({ symbol }, 0);
      },
    });
  const liquidations = perMarket(
    "perpgate_liquidations_total",
    "Positions liquidated since the start of the process.",
  );
  const gauge = (name: string, help: string, read: () => number) =>
    gauged(registry, name, help, read);
  gauge(
    "perpgate_fund_dollars",
    "What the fund holds; below zero, losses have been shared.",
    () => venue.views.fundDollars,
  );
  gauge(
    "perpgate_fund_budget_dollars",
    "What the fund may lose in an hour to takeovers, at its present worth.",
    () => venue.views.fundBudget.budgetDollars,
  );
  gauge(
    "perpgate_fund_loss_dollars",
    "What the fund and the backstop have lost in the last hour; below zero, gained.",
    () => venue.views.fundBudget.lostDollars,
  );
  const unabsorbed = perMarket(
    "perpgate_unabsorbed_size_total",
    "Size of liquidations that neither the book nor the backstop took.",
  );
  const deleveraged = perMarket(
    "perpgate_deleveraged_size_total",
    "Size closed by auto-deleveraging; divided by the unabsorbed size it must be 1.",
  );
  const symbolOf = (market: number) => venue.listing.markets[market]?.symbol ?? String(market);
  const sizeOf = (market: number, lots: number) =>
    lots * (venue.listing.markets[market]?.lotSize ?? 1);

  const onCommand = ({ command, events, seq: position }: Applied): void => {
    if (command.kind !== "Tick" && command.kind !== "AskTime") return;
    for (const event of events.decode()) {
      if (event.kind === "Liquidated") {
        const symbol = symbolOf(event.market);
        liquidations.inc({ symbol });
        const fee = fromMicros(event.feeMicros);
        const isBackstopped = event.backstopLots > 0;
        const isDeleveraged = event.deleveragedLots > 0;
        unabsorbed.inc({ symbol }, sizeOf(event.market, event.deleveragedLots));
        log.info(
          { symbol, fee, isBackstopped, isDeleveraged, position },
          "a position was liquidated",
        );
      } else if (event.kind === "Traded" && event.tradeKind === TRADE_ADL) {
        const symbol = symbolOf(event.market);
        const size = sizeOf(event.market, event.lots);
        deleveraged.inc({ symbol }, size);
        // The backstop gives away what it took in an earlier liquidation.
        if (event.takerAccount === BACKSTOP_ACCOUNT) unabsorbed.inc({ symbol }, size);
      } else if (event.kind === "FundingApplied") {
        const symbol = symbolOf(event.market);
        const paidByFund = fromMicros(event.backstopMicros);
        log.info({ symbol, rate: event.rate / 1e9, paidByFund, position }, "funding has accrued");
      } else if (event.kind === "LossSocialised") {
        const [symbol, amount] = [symbolOf(event.market), fromMicros(event.amountMicros)];
        log.warn({ symbol, amount, position }, "a loss was charged to the fund");
      }
    }
  };
  venue.observe({ onCommand });
}
