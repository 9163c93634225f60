/** Deposits of the bridge, and the votes on them. */

import type { Unsigned } from "./request-terms.js";

export interface RegisterDeposit extends Unsigned {
  readonly kind: "RegisterDeposit";
  readonly stampMs: number;
  readonly session: number;
  readonly chain: string;
  /** Lower-case hex without `0x`. */
  readonly txHash: string;
  readonly token: string;
}

export interface AttestedCredit {
  /** The sender in the log, lower-case hex. */
  readonly address: string;
  readonly amountMicros: number;
  readonly logIndex: number;
  /** The token that the log moved. Missing: the token of the registration. */
  readonly token?: string;
}

/** One attestor's vote, its signature checked before the log. */
export interface AttestDeposit {
  readonly kind: "AttestDeposit";
  readonly stampMs: number;
  readonly attestor: number;
  readonly depositId: number;
  /** `reorged`: a credited deposit whose transaction is no longer in the chain. */
  readonly verdict: "confirming" | "credit" | "reject" | "reorged";
  /** When the attestor signed it; an older vote never replaces a newer one. */
  readonly votedAtMs: number;
  readonly confirmations: number;
  readonly required: number;
  /** For `credit`: each matching log. */
  readonly credits: readonly AttestedCredit[];
  /** For `reject` and `reorged`: the reason in snake_case. */
  readonly reason: string;
  /**
   * For `credit`: which part of the transaction's logs this vote is about, from 1, and the number of
   * parts. Missing: all logs.
   */
  readonly part?: number;
  readonly parts?: number;
}
