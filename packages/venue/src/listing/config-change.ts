/**
 * Whether a venue may go on under a configuration, and whether it differs from the one in force.
 * What was fixed when the venue began (the attestor's kind, the fund's seed, the order of markets,
 * their ticks and lots) is fixed for good: a data folder belongs to one venue.
 */
import { configFault, type VenueConfig } from "@perpgate/engine";
import { microsPerTickLot, stepOf } from "@perpgate/protocol/core";
import { ConfigRefused } from "../venue-errors.js";
import { type AttestorKeys, attestorKeysFault } from "./attestor-keys.js";
import { encodeListing, type ListedMarket, type Listing } from "./listing.js";

/** Judged alone: is it a configuration at all, and does the listing belong to it? */
export function checkConfig(
  config: VenueConfig,
  listing: readonly ListedMarket[],
  attestors: AttestorKeys | null,
): void {
  const fault = configFault(config) ?? attestorKeysFault(config, attestors);
  if (fault !== null) throw new ConfigRefused("configuration_invalid", fault);
  if (config.markets.length !== listing.length) {
    throw new ConfigRefused("listing_mismatch", "the listing has other markets than the engine");
  }
  config.markets.forEach((market, number) => {
    const listed = listing[number];
    const unit =
      listed === undefined
        ? undefined
        : microsPerTickLot(stepOf(listed.tickSize), stepOf(listed.lotSize));
    if (listed?.symbol !== market.symbol || unit !== market.microsPerTickLot) {
      throw new ConfigRefused(
        "listing_mismatch",
        `${market.symbol}: the listing has another market, tick or lot`,
      );
    }
  });
}

/** Throws if the venue may not go on under it. */
export function checkContinuation(
  current: { readonly config: VenueConfig; readonly listing: readonly ListedMarket[] },
  config: VenueConfig,
  listing: readonly ListedMarket[],
): void {
  if (config.attestorKind !== current.config.attestorKind) {
    throw new ConfigRefused(
      "attestor_kind_fixed",
      `this data folder began with the ${current.config.attestorKind} attestor and cannot go on ` +
        `with ${config.attestorKind}; use another folder`,
    );
  }
  if (config.fundSeedMicros !== current.config.fundSeedMicros) {
    throw new ConfigRefused(
      "fund_seed_fixed",
      `the fund was seeded with ${current.config.fundSeedMicros} micros; that never changes`,
    );
  }
  current.listing.forEach((market, number) => {
    const next = listing[number];
    if (next?.symbol !== market.symbol) {
      throw new ConfigRefused(
        "market_removed",
        `market ${number + 1} is ${market.symbol}; listed markets stay, new ones follow them`,
      );
    }
    if (next.tickSize !== market.tickSize) {
      throw new ConfigRefused(
        "tick_fixed",
        `${market.symbol} was listed with tick ${market.tickSize}; that never changes`,
      );
    }
    if (next.lotSize !== market.lotSize) {
      throw new ConfigRefused(
        "lot_fixed",
        `${market.symbol} was listed with lot ${market.lotSize}; that never changes`,
      );
    }
  });
}

export function isSameConfig(
  current: { readonly config: VenueConfig; readonly listing: Listing },
  config: VenueConfig,
  listing: readonly ListedMarket[],
  attestors: AttestorKeys | null,
): boolean {
  return (
    current.listing.text === encodeListing(listing, attestors) &&
    canonical(current.config) === canonical(config)
  );
}

/** The same text for the same values, in whatever order their keys were written. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
