/** A validated chain configuration: addresses as 40 hex digits, with defaults applied. */

import type { Chain, Token } from "@perpgate/protocol";
import { TOKENS } from "@perpgate/protocol/core";
import { type Dialect, EVM_DIALECT, TRON_DIALECT } from "../chain/dialect.js";
import type { ChainTerms, VenueTerms } from "../venue-port.js";
import type { ChainSettings } from "./bridge-settings.js";

/** An invalid configuration; the message begins with the key at fault. */
export class BridgeConfigError extends Error {
  override readonly name = "BridgeConfigError";
}

interface TokenConfig {
  /** 40 hex digits. */
  readonly contract: string;
  readonly decimals: number;
}

export interface ChainConfig {
  readonly chain: Chain;
  readonly dialect: Dialect;
  readonly chainId: number;
  readonly rpc: readonly string[];
  readonly vault: string;
  readonly tokens: Readonly<Partial<Record<Token, TokenConfig>>>;
  readonly confirmations: number;
  readonly finality: "finalized" | "confirmations";
  readonly minDepositMicros: number;
  readonly maxHeadLagMs: number;
  readonly maxHeadAgeMs: number;
  readonly startBlock: number;
  readonly pollIntervalMs: number;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly batchSize: number;
  readonly minAgreeing: number;
  readonly notFoundAfterMs: number;
  readonly watchMs: number;
  readonly recheckIntervalMs: number;
}

interface ChainDefaults {
  readonly dialect: Dialect;
  readonly chainId: number;
  readonly confirmations: number;
  readonly finality: ChainConfig["finality"];
  readonly pollIntervalMs: number;
}

const DEFAULTS: Readonly<Record<Chain, ChainDefaults>> = {
  // Two epochs, after which Ethereum finalizes.
  ethereum: {
    dialect: EVM_DIALECT,
    chainId: 1,
    confirmations: 64,
    finality: "finalized",
    pollIntervalMs: 6_000,
  },
  // Finalized once Ethereum has finalized the sequencer's batch; the count only shows progress.
  arbitrum: {
    dialect: EVM_DIALECT,
    chainId: 42_161,
    confirmations: 1_200,
    finality: "finalized",
    pollIntervalMs: 3_000,
  },
  // A block is solid once 19 of the 27 producers have built on it.
  tron: {
    dialect: TRON_DIALECT,
    chainId: 728_126_428,
    confirmations: 20,
    finality: "confirmations",
    pollIntervalMs: 3_000,
  },
};
const DEFAULT_MIN_DEPOSIT = 1;

const DAY_MS = 86_400_000;
const PUBLIC_HEAD_AGE_MS = 300_000;
/** A development chain may have no new block for long. */
const OTHER_HEAD_AGE_MS = 365 * DAY_MS;

export function dialectOf(chain: Chain): Dialect {
  return DEFAULTS[chain].dialect;
}

export function resolveChain(chain: Chain, settings: ChainSettings): ChainConfig {
  const { dialect, finality, ...defaults } = DEFAULTS[chain];
  const { minDeposit = DEFAULT_MIN_DEPOSIT, ...given } = settings;
  const refuse = (problem: string): never => {
    throw new BridgeConfigError(`chains.${chain}.${problem}`);
  };
  const addressOf = (key: string, text: string): string =>
    dialect.configuredAddress(text) ?? refuse(`${key}: not an address of ${chain}`);
  const vault = addressOf("vault", settings.vault);
  const tokens: Partial<Record<Token, TokenConfig>> = {};
  const roles = new Set([vault]);
  for (const token of TOKENS) {
    const entry = settings.tokens[token];
    if (entry === undefined) continue;
    const contract = addressOf(`tokens.${token}.contract`, entry.contract);
    if (roles.has(contract)) refuse(`tokens.${token}.contract: vault and contracts must differ`);
    roles.add(contract);
    tokens[token] = { contract, decimals: entry.decimals ?? 6 };
  }
  if (roles.size === 1) refuse("tokens: needs at least one token");
  const rpc = settings.rpc.map((url) => urlOf(url) ?? refuse("rpc: not a URL"));
  // A duplicate endpoint would agree with itself.
  if (new Set(rpc).size !== rpc.length) refuse("rpc: an address is listed twice");
  const minAgreeing = settings.minAgreeing ?? Math.floor(rpc.length / 2) + 1;
  if (minAgreeing > rpc.length) refuse("minAgreeing: more than there are endpoints");
  const isPublic = (settings.chainId ?? defaults.chainId) === defaults.chainId;
  return {
    startBlock: 0,
    timeoutMs: 10_000,
    graceMs: 2_000,
    batchSize: 100,
    maxHeadLagMs: 60_000,
    maxHeadAgeMs: isPublic ? PUBLIC_HEAD_AGE_MS : OTHER_HEAD_AGE_MS,
    notFoundAfterMs: DAY_MS,
    watchMs: DAY_MS,
    recheckIntervalMs: 60_000,
    ...defaults,
    // A configured count replaces the finalized block.
    finality: settings.confirmations === undefined ? finality : "confirmations",
    ...given,
    minDepositMicros: Math.round(minDeposit * 1e6),
    chain,
    dialect,
    rpc,
    vault,
    tokens,
    minAgreeing,
  };
}

function urlOf(text: string): string | undefined {
  return URL.canParse(text) ? new URL(text).href : undefined;
}

/** The configuration in the form that venues publish. */
export function termsOf(config: ChainConfig): ChainTerms {
  const { chain, chainId, vault, minDepositMicros } = config;
  const tokens = TOKENS.flatMap((token) => {
    const entry = config.tokens[token];
    return entry === undefined ? [] : [{ token, ...entry }];
  });
  return { chain, chainId, vault, tokens, minDepositMicros };
}

/**
 * The first setting that differs from the venue's, with both values; null if none does. An attestor
 * with another vault or other decimals would miscount deposits and must not vote.
 */
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
