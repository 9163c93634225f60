/** The parameters of withdrawals. Without them a venue takes none. */
import { HOUR_MS } from "@perpgate/protocol/rules";

export interface WithdrawalChain {
  readonly chain: string;
  readonly chainId: number;
  /** At least one. */
  readonly tokens: readonly string[];
  /** Withdrawals that are not paid yet, together, at most. */
  readonly maxUnpaidMicros: number;
}

export interface WithdrawalConfig {
  readonly minMicros: number;
  /** Of each withdrawal, on top of its amount. */
  readonly feeMicros: number;
  /** Of one account in a day; of all accounts in an hour, and in a day. */
  readonly accountDayMicros: number;
  readonly venueHourMicros: number;
  readonly venueDayMicros: number;
  /** From the request to the deadline; whole seconds. */
  readonly lifeMs: number;
  /** A chain that is not listed takes no withdrawals. */
  readonly chains: readonly WithdrawalChain[];
}

/** The deadline leaves time for the attestors, the dispute period and a full cap of the vault. */
const MIN_LIFE_MS = HOUR_MS;
const MAX_LIFE_MS = 7 * 24 * HOUR_MS;
const MAX_CHAINS = 16;
const NAME = /^[A-Za-z0-9]{1,16}$/;

/** Why the parameters are invalid, or null. */
export function withdrawalFault(config: WithdrawalConfig): string | null {
  const { minMicros, feeMicros, accountDayMicros, venueHourMicros, venueDayMicros } = config;
  const figures = [minMicros, feeMicros, accountDayMicros, venueHourMicros, venueDayMicros];
  if (!figures.every(isCount)) return "withdrawals: a figure is not a safe integer ≥ 0";
  if (minMicros < 1) return "withdrawals: minMicros must be ≥ 1";
  const { lifeMs, chains } = config;
  if (!isCount(lifeMs) || lifeMs % 1_000 !== 0 || lifeMs < MIN_LIFE_MS || lifeMs > MAX_LIFE_MS) {
    return "withdrawals: lifeMs must be whole seconds, an hour to seven days";
  }
  if (chains.length > MAX_CHAINS) return `withdrawals: at most ${MAX_CHAINS} chains`;
  if (new Set(chains.map(({ chain }) => chain)).size !== chains.length) {
    return "withdrawals: a chain is listed twice";
  }
  for (const { chain, chainId, tokens, maxUnpaidMicros } of chains) {
    const isTokens = tokens.length > 0 && new Set(tokens).size === tokens.length;
    if (![chain, ...tokens].every((name) => NAME.test(name)) || !isTokens) {
      return "withdrawals: a chain or token has no proper name, or a chain no token";
    }
    if (!isCount(chainId) || chainId < 1 || !isCount(maxUnpaidMicros)) {
      return `withdrawals: ${chain}: chainId and maxUnpaidMicros must be safe integers`;
    }
  }
  return null;
}

/** Whether a bound is looser than before, or a chain or token is new. */
export function raisesWithdrawals(
  before: WithdrawalConfig | undefined,
  after: WithdrawalConfig | undefined,
): boolean {
  if (after === undefined) return false;
  if (before === undefined) return true;
  if (
    after.accountDayMicros > before.accountDayMicros ||
    after.venueHourMicros > before.venueHourMicros ||
    after.venueDayMicros > before.venueDayMicros
  ) {
    return true;
  }
  return after.chains.some(({ chain, tokens, maxUnpaidMicros }) => {
    const old = before.chains.find((each) => each.chain === chain);
    if (old === undefined || maxUnpaidMicros > old.maxUnpaidMicros) return true;
    return tokens.some((token) => !old.tokens.includes(token));
  });
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
