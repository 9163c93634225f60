/**
 * Whether a venue may continue with a configuration, and whether that differs from the current one.
 * The attestor kind, the fund's seed, the order of markets, their ticks and lots are fixed at Genesis.
 */
import { configFault, raisedLimit, type VenueConfig } from "@perpgate/engine";
import { microsPerTickLot, stepOf } from "@perpgate/protocol/core";
import { ConfigRefused } from "../venue-errors.js";
import { type AttestorKeys, attestorKeysFault } from "./attestor-keys.js";
import { encodeListing, type ListedMarket, type Listing } from "./listing.js";

/** Checks the configuration alone, and that the listing matches it. @throws {ConfigRefused} */
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

interface Terms {
  readonly config: VenueConfig;
  readonly listing: readonly ListedMarket[];
}

/** @throws {ConfigRefused} if the venue may not continue with it. */
export function checkContinuation(
  current: Terms,
  config: VenueConfig,
  listing: readonly ListedMarket[],
): void {
  checkSameVenue(current, config, listing);
  const missing = current.listing[listing.length];
  if (missing !== undefined) throw marketRemoved(listing.length, missing);
  refuseRaiseWithListing(current.config, config);
}

/**
 * What a gateway of a replicated log needs of its file, which a start does not apply: either may have
 * markets that the other lacks.
 * @throws {ConfigRefused} if it is of another venue.
 */
export function checkSameVenue(
  current: Terms,
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
  listing.forEach((next, number) => {
    const market = current.listing[number];
    if (market !== undefined) checkSameMarket(number, market, next);
  });
}

function checkSameMarket(number: number, market: ListedMarket, next: ListedMarket): void {
  if (next.symbol !== market.symbol) throw marketRemoved(number, market);
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
}

function marketRemoved(number: number, { symbol }: ListedMarket): ConfigRefused {
  return new ConfigRefused(
    "market_removed",
    `market ${number + 1} is ${symbol}; listed markets stay, new ones follow them`,
  );
}

/** @throws {ConfigRefused} as the engine would refuse it, but with the limit's name. */
function refuseRaiseWithListing(current: VenueConfig, config: VenueConfig): void {
  if (config.markets.length <= current.markets.length) return;
  const raised = raisedLimit(current, config);
  if (raised === null) return;
  throw new ConfigRefused(
    "raises_and_lists",
    `the configuration lists a market and raises a limit (${raised}): ` +
      "start with one of the two changes, then with the other",
  );
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

/** JSON with sorted keys: equal texts for equal values. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
