/** Withdrawals, and what attestors say about them. */

/** Asks for money to be paid to the account's own address on a chain. */
export interface Withdraw {
  readonly kind: "Withdraw";
  readonly stampMs: number;
  readonly session: number;
  /** Fingerprint of the key that verified the signature. */
  readonly key: string;
  readonly nonce: number;
  readonly chain: string;
  readonly token: string;
  readonly amountMicros: number;
}

/**
 * What one attestor says about a withdrawal, its signature checked before the log:
 * `signed` the vault's data; `pending` it is in its dispute period; `paid` at a finalized block; `unpaid` at a
 * finalized block after the deadline.
 */
export type WithdrawalVoteVerdict = "signed" | "pending" | "paid" | "unpaid";

export interface AttestWithdrawal {
  readonly kind: "AttestWithdrawal";
  readonly stampMs: number;
  readonly attestor: number;
  readonly withdrawalId: number;
  readonly verdict: WithdrawalVoteVerdict;
  /** When the attestor signed it; an older vote never replaces a newer one. */
  readonly votedAtMs: number;
  /** For `pending` and `paid`: the transaction, lower-case hex without `0x`; otherwise empty. */
  readonly txHash: string;
  /** For `signed`: the signature that the vault takes, 130 digits of lower-case hex; otherwise empty. */
  readonly vaultSignature: string;
}
