/** An engine with a book, for comparing estimates with what the engine does. */

import { type Listing, type Trader, Venue } from "@perpgate/engine/testing";
import type { Holding } from "@perpgate/protocol/core";
import { type MarketInUnits, unitsOfMarket } from "../maths/market-units.js";
import { type OrderIntent, type PreviewContext, previewOrder } from "../maths/order-preview.js";
import { NO_HOLDING } from "../maths/position-maths.js";

export function unitsOf({ config, ticksPerDollar, lotsPerCoin }: Listing): MarketInUnits {
  return unitsOfMarket({
    tickSize: 1 / ticksPerDollar,
    lotSize: 1 / lotsPerCoin,
    makerFee: config.makerFeePpm / 1e6,
    takerFee: config.takerFeePpm / 1e6,
    tiers: config.tiers.map((tier) => ({
      notionalUpTo: tier.upToMicros / 1e6,
      maxLeverage: tier.maxLeverage,
      maintenanceRate: tier.maintenancePpm / 1e6,
    })),
  });
}

/** A book with one order per level, and the trader whose orders are estimated. */
export class Fixture {
  readonly venue: Venue;
  readonly units: MarketInUnits;
  readonly trader: Trader;

  constructor(
    readonly listing: Listing,
    dollars = 5_000_000,
  ) {
    this.venue = new Venue({ markets: [listing] });
    this.units = unitsOf(listing);
    this.trader = this.venue.trader("taker", dollars);
    const maker = this.venue.trader("maker", 50_000_000);
    for (let level = 1; level <= 12; level++) {
      const margin = 700 + 131 * level;
      const step = Math.max(1, Math.round(listing.startPrice * listing.ticksPerDollar * 0.0004));
      const distance = (level * step) / listing.ticksPerDollar;
      maker.buys("limit", { margin, price: listing.startPrice - distance });
      maker.sells("limit", { margin, price: listing.startPrice + distance });
    }
  }

  held(): Holding {
    const settled = this.venue.happened("PositionSettled");
    const own = settled.findLast(({ account }) => account === this.trader.account);
    if (own === undefined) return this.last;
    this.last = { lots: own.lots, costMicros: own.costMicros, marginMicros: own.marginMicros };
    return this.last;
  }

  preview(intent: OrderIntent, held: Holding) {
    return previewOrder(intent, this.context(intent, held));
  }

  context({ direction }: OrderIntent, held: Holding): PreviewContext {
    const market = this.venue.market();
    const ladder = direction > 0 ? market.asks : market.bids;
    const opposite = Array.from(
      { length: ladder.count },
      (_, at) => [ladder.ticksAt(at), ladder.lotsAt(at)] as const,
    );
    return { units: this.units, markTicks: market.mark, opposite, held };
  }

  place(intent: OrderIntent) {
    const price = intent.priceTicks / this.listing.ticksPerDollar;
    this.trader.places(intent.direction, intent.type, {
      margin: intent.marginMicros / 1e6,
      leverage: intent.leverage,
      reduceOnly: intent.reduceOnly,
      ...(price > 0 ? { price } : {}),
      ...((intent.sizeLots ?? 0) > 0
        ? { size: (intent.sizeLots ?? 0) / this.listing.lotsPerCoin }
        : {}),
      ...(intent.timeInForce === undefined ? {} : { timeInForce: intent.timeInForce }),
    });
    return this.venue.happened("OrderAcknowledged")[0];
  }

  private last: Holding = NO_HOLDING;
}
