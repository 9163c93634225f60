/**
 * What attestors have stated about the vaults' holdings: the newest statement of each member about each token, in
 * memory. They state it again at each poll, so a restart knows it again within seconds.
 */
import { isSignedText } from "@perpgate/bridge";
import type { Reserves } from "@perpgate/protocol";
import { type Holdings, holdingsText, microsOfUnits } from "@perpgate/protocol/core";
import type { Venue } from "@perpgate/venue";
import { bridgeInfoOf } from "./bridge-info.js";
import type { VenueDeposits } from "./venue-deposits.js";

/** An older statement says nothing about now. */
const MAX_AGE_MS = 3_600_000;
const MAX_LEAD_MS = 60_000;
const MICROS = 1e6;

interface Kept {
  readonly stated: Holdings;
  readonly publicKey: string;
  readonly signature: string;
}

export class VaultHoldings {
  private readonly kept = new Map<string, Kept>();

  constructor(
    private readonly venue: Venue,
    private readonly deposits: VenueDeposits,
  ) {}

  /** Null, or why the statement does not count; `spend` takes it from its attestor's budget. */
  async take(stated: Holdings, signature: string, spend: () => boolean): Promise<string | null> {
    const { attestor, chain, token, statedAtMs } = stated;
    const nowMs = this.venue.wallMs();
    if (!this.isInScope(stated)) return "other_scope";
    if (statedAtMs > nowMs + MAX_LEAD_MS) return "vote_from_future";
    const key = `${attestor} ${chain} ${token}`;
    const last = this.kept.get(key);
    const publicKey = this.deposits.keys.members[attestor];
    const isLater =
      last === undefined || last.publicKey !== publicKey || statedAtMs > last.stated.statedAtMs;
    if (statedAtMs < nowMs - MAX_AGE_MS || !isLater) return "vote_outdated";
    const member = this.deposits.memberOf(attestor);
    if (member === undefined || publicKey === undefined) return "attestor_unknown";
    if (!(await isSignedText(holdingsText(stated), signature, member))) return "invalid_signature";
    if (!spend()) return "rate_limited";
    this.kept.set(key, { stated, publicKey, signature });
    return null;
  }

  list(): Reserves["vaults"] {
    const { history, keys, chains } = this.deposits;
    const quorum = history.entries.at(-1)?.quorum ?? keys.members.length;
    const info = bridgeInfoOf({ keys, history, chains, paused: [] });
    return info.chains.flatMap(({ chain, vault, tokens }) =>
      tokens.map(({ token }) => {
        const statements = keys.members.flatMap((publicKey, attestor) => {
          const kept = this.kept.get(`${attestor} ${chain} ${token}`);
          return kept !== undefined && this.counts(kept, publicKey) ? [kept] : [];
        });
        const amounts = statements
          .flatMap(({ stated }) => microsOfUnits(stated.amount, stated.decimals) ?? [])
          .sort((a, b) => b - a);
        const micros = amounts[quorum - 1];
        return {
          chain,
          token,
          vault,
          holds: micros === undefined ? null : micros / MICROS,
          statements: statements.map(({ stated, publicKey, signature }) => {
            return { attestor: stated.attestor, publicKey, text: holdingsText(stated), signature };
          }),
        };
      }),
    );
  }

  private counts({ stated, publicKey }: Kept, member: string): boolean {
    const isNow = this.venue.wallMs() - stated.statedAtMs <= MAX_AGE_MS;
    return publicKey === member && isNow && this.isInScope(stated);
  }

  private isInScope({ chain, chainId, vault, token, contract, decimals }: Holdings): boolean {
    const config = this.deposits.chains.find((each) => each.chain === chain);
    const known = config?.tokens[token];
    return (
      config !== undefined &&
      known !== undefined &&
      config.chainId === chainId &&
      config.vault === vault &&
      known.contract === contract &&
      known.decimals === decimals
    );
  }
}
