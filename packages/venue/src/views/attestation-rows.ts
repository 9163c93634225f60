/** What attestors, and the checks of their votes, read about deposits. */
import type { DepositRecord } from "@perpgate/engine/reading";
import type { Chain, OwnVote, Token } from "@perpgate/protocol";

/** The deposit that a vote is about, from the state. */
export interface DepositSubject {
  readonly chain: Chain;
  readonly txHash: string;
  readonly token: Token;
  readonly status: DepositRecord["status"];
  readonly registeredAtMs: number;
  readonly creditedParts: number;
  readonly credits: DepositRecord["credits"];
  readonly reorged: DepositRecord["reorged"];
  /** The attestor's latest vote, and when it signed it. */
  readonly ownVote: (OwnVote & { readonly votedAtMs: number }) | null;
}

/** Open deposits of a chain, for metrics. */
export interface OpenDeposits {
  readonly unseen: number;
  readonly seen: number;
  /** Registration time of the oldest one seen on the chain; null for none. */
  readonly oldestSeenAtMs: number | null;
}
