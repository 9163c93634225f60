/**
 * The markets of a configuration. A list is the whole catalog, as it stands. An object names markets by
 * their symbols and changes the default catalog: what an entry has replaces what the default has, a new
 * symbol is a new market after them, and false leaves a default market out. See
 * docs/adr/0115-markets-by-symbol.md.
 */

import { DEFAULT_MARKETS, MarketDefinition } from "@perpgate/protocol";
import type { PartialSettings } from "./settings-schema.js";

type Given = NonNullable<PartialSettings["markets"]>;
type Changes = Exclude<Given, readonly MarketDefinition[]>;

export function readMarkets(given: Given): MarketDefinition[] {
  if (isList(given)) return [...given];
  const symbols = new Set([...DEFAULT_MARKETS.map(({ symbol }) => symbol), ...Object.keys(given)]);
  return [...symbols].flatMap((symbol) => {
    const market = changed(symbol, given[symbol] ?? {});
    return isComplete(market) ? [market] : [];
  });
}

/** The first key that a new market lacks; undefined if none does. */
export function missingOfMarket(given: Given): string | undefined {
  if (isList(given)) return undefined;
  for (const [symbol, change] of Object.entries(given)) {
    const market = changed(symbol, change);
    const missing = market === undefined ? undefined : missingKey(market);
    if (missing !== undefined) return `"markets.${symbol}.${missing}" is missing`;
  }
  return undefined;
}

function isList(given: Given): given is Exclude<Given, Changes> {
  return Array.isArray(given);
}

type PartialMarket = Partial<Omit<MarketDefinition, "index">> & {
  readonly index: Partial<MarketDefinition["index"]>;
};

/** Undefined: left out. */
function changed(symbol: string, change: Changes[string]): PartialMarket | undefined {
  if (change === false) return undefined;
  const usual = DEFAULT_MARKETS.find((market) => market.symbol === symbol);
  return { ...usual, ...change, symbol, index: { ...usual?.index, ...change.index } };
}

function missingKey({ index, ...market }: PartialMarket): string | undefined {
  const { index: indexSchema, ...terms } = MarketDefinition.properties;
  const missing = Object.keys(terms).find((key) => !Object.hasOwn(market, key));
  if (missing !== undefined) return missing;
  const ofIndex = Object.keys(indexSchema.properties).find((key) => !Object.hasOwn(index, key));
  return ofIndex === undefined ? undefined : `index.${ofIndex}`;
}

function isComplete(market: PartialMarket | undefined): market is MarketDefinition {
  return market !== undefined && missingKey(market) === undefined;
}
