/** Registers deposits by transaction hash. */

import type { Chain, Deposit, DepositBody, Token } from "@perpgate/protocol";
import { ApiError, withoutHexPrefix } from "@perpgate/protocol/core";
import type { Attestation } from "./attestation.js";
import { sessionRefusal } from "./session-flow.js";
import type { LiveSession, VenueLink } from "./venue-link.js";

const TX_HASH = /^[0-9a-f]{64}$/;

export class DepositFlow {
  constructor(
    private readonly link: VenueLink,
    /** Undefined under the `dev` attestor, which accepts any hash. */
    private readonly attestation: Attestation | undefined,
    private readonly maxUnseen: number,
  ) {}

  async register(session: LiveSession, body: DepositBody): Promise<Deposit> {
    const txHash = withoutHexPrefix(body.txHash).toLowerCase();
    if (!TX_HASH.test(txHash)) throw new ApiError("invalid_tx_hash", {}, { field: "txHash" });
    const { chain, token } = body;
    if (!this.isAccepted(chain, token)) throw new ApiError("token_not_on_chain", { chain, token });
    this.refuseTooManyUnseen(session.account, chain, txHash);
    const { outcome } = await this.link.execute({
      kind: "RegisterDeposit",
      stampMs: this.link.nowMs(),
      session: session.number,
      chain,
      txHash,
      token,
    });
    if (outcome.kind === "refused") {
      if (outcome.refusal === "too_many_unseen_deposits") throw tooManyUnseen(outcome.detail1);
      throw sessionRefusal("RegisterDeposit", outcome);
    }
    const deposit = this.link.views.registeredDeposit(session.account, chain, txHash);
    if (deposit === undefined) throw new Error(`deposit ${chain} ${txHash} was not registered`);
    return deposit;
  }

  private isAccepted(chain: Chain, token: Token): boolean {
    if (this.attestation === undefined) return true;
    const watched = this.attestation.info().chains.find((entry) => entry.chain === chain);
    return watched?.tokens.some((entry) => entry.token === token) === true;
  }

  /** Invented hashes cost nothing, so the unseen deposits per account are bounded. */
  private refuseTooManyUnseen(account: number, chain: Chain, txHash: string): void {
    const { views } = this.link;
    if (views.attestation.unseenBy(account) < this.maxUnseen) return;
    // Registering a known hash again adds nothing.
    if (views.registeredDeposit(account, chain, txHash) !== undefined) return;
    throw tooManyUnseen(this.maxUnseen);
  }
}

function tooManyUnseen(limit: number): ApiError {
  return new ApiError("too_many_unseen_deposits", { limit });
}
