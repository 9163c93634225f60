/**
 * The listing: what a market's integers mean outside (its tick, its lot, its two assets). The
 * engine trades in ticks and lots and never sees it, yet a price of the log means nothing without
 * it, so it stands in the log too: as the evidence of `Genesis` and `Configure`. Tick and lot of a
 * listed market never change.
 */
import { EVENT, type EventLog } from "@perpgate/engine";
import { microsPerTickLot, type Step, stepOf } from "@perpgate/protocol/units";
import { eventWords } from "../events/event-fields.js";
import type { Evidence } from "../record/evidence.js";
import type { Applied } from "../replica.js";

export interface ListedMarket {
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly tickSize: number;
  readonly lotSize: number;
}

/** A listed market with its steps prepared. */
export interface MarketUnits extends ListedMarket {
  readonly number: number;
  readonly tick: Step;
  readonly lot: Step;
  readonly microsPerTickLot: number;
}

export class ListingUnreadable extends Error {
  override readonly name = "ListingUnreadable";
}

export function encodeListing(markets: readonly ListedMarket[]): string {
  return JSON.stringify(
    markets.map(({ symbol, base, quote, tickSize, lotSize }) => ({
      symbol,
      base,
      quote,
      tickSize,
      lotSize,
    })),
  );
}

export function decodeListing(text: string): ListedMarket[] {
  const value: unknown = JSON.parse(text);
  if (!Array.isArray(value)) throw new ListingUnreadable("the listing is not a list");
  return value.map((market: unknown) => {
    if (!isListedMarket(market)) throw new ListingUnreadable("the listing has a market in part");
    return market;
  });
}

function isListedMarket(value: unknown): value is ListedMarket {
  if (typeof value !== "object" || value === null) return false;
  return (
    "symbol" in value &&
    typeof value.symbol === "string" &&
    "base" in value &&
    typeof value.base === "string" &&
    "quote" in value &&
    typeof value.quote === "string" &&
    "tickSize" in value &&
    typeof value.tickSize === "number" &&
    "lotSize" in value &&
    typeof value.lotSize === "number"
  );
}

/** The evidence that a `Genesis` or `Configure` carries. */
export function listingEvidence(markets: readonly ListedMarket[]): Evidence {
  const nothing = new Uint8Array(0);
  const signed = Buffer.from(encodeListing(markets), "utf8");
  return { signed, signature: nothing, publicKey: nothing };
}

/** The listing in force, as the log tells it. */
export class Listing {
  markets: readonly MarketUnits[] = [];
  private readonly bySymbol = new Map<string, MarketUnits>();

  constructor(markets: readonly ListedMarket[] = []) {
    this.adopt(markets);
  }

  named(symbol: string): MarketUnits | undefined {
    return this.bySymbol.get(symbol);
  }

  onCommand({ command, evidence, events }: Applied): void {
    if (command.kind !== "Genesis" && command.kind !== "Configure") return;
    if (evidence.signed.length === 0 || !wasTaken(events)) return;
    this.adopt(decodeListing(Buffer.from(evidence.signed).toString("utf8")));
  }

  private adopt(markets: readonly ListedMarket[]): void {
    this.markets = markets.map((market, number) => {
      const tick = stepOf(market.tickSize);
      const lot = stepOf(market.lotSize);
      return { ...market, number, tick, lot, microsPerTickLot: microsPerTickLot(tick, lot) };
    });
    this.bySymbol.clear();
    for (const market of this.markets) this.bySymbol.set(market.symbol, market);
  }
}

/** Whether the command was executed; a market may have been halted on the way. */
function wasTaken({ words, length }: EventLog): boolean {
  for (let at = 0; at < length; at += eventWords(words[at]!)) {
    if (words[at] === EVENT.VenueStarted || words[at] === EVENT.VenueConfigured) return true;
  }
  return false;
}
