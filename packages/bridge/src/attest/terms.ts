/**
 * Whether the attestor's configuration is that of the venue. One that watches another vault, or
 * counts decimals otherwise, would reject or miscount valid deposits; it must not vote at all.
 */

import type { Token } from "@perpgate/protocol";
import type { ChainConfig } from "../config/chain-config.js";
import type { ChainTerms, VenueTerms } from "../venue-port.js";

const TOKENS: readonly Token[] = ["USDC", "USDT"];

/** The configuration in the form in which venues publish theirs. */
export function termsOf(config: ChainConfig): ChainTerms {
  const { chain, chainId, vault, minDepositMicros } = config;
  const tokens = TOKENS.flatMap((token) => {
    const entry = config.tokens[token];
    return entry === undefined ? [] : [{ token, ...entry }];
  });
  return { chain, chainId, vault, tokens, minDepositMicros };
}

/** The first setting that differs from the venue's, with both values; null if none does. */
export function differenceFrom(venue: VenueTerms, config: ChainConfig): string | null {
  const theirs = venue.chains.find(({ chain }) => chain === config.chain);
  if (theirs === undefined) return `the venue has no chain ${config.chain}`;
  const ours = termsOf(config);
  const differing = (["chainId", "vault", "minDepositMicros"] as const).find(
    (key) => ours[key] !== theirs[key],
  );
  if (differing !== undefined) {
    return `${differing}: ${ours[differing]} here, ${theirs[differing]} at the venue`;
  }
  const [here, there] = [ours, theirs].map(({ tokens }) =>
    tokens.map(({ token, contract, decimals }) => `${token} ${contract} ${decimals}`).join(", "),
  );
  return here === there ? null : `tokens: ${here} here, ${there} at the venue`;
}
