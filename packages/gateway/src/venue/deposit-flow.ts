/** Deposits: registered by hash, read back until they are credited. */

import { type Deposit, type DepositBody, Refusal, withoutHexPrefix } from "@perpgate/protocol";
import { getAddress, isAddress } from "viem";
import { sessionRefusal } from "./session-flow.js";
import type { LiveSession, VenueLink } from "./venue-link.js";

const TX_HASH = /^[0-9a-f]{64}$/;

export class DepositFlow {
  constructor(private readonly link: VenueLink) {}

  async register(session: LiveSession, body: DepositBody): Promise<Deposit> {
    const txHash = withoutHexPrefix(body.txHash).toLowerCase();
    if (!TX_HASH.test(txHash)) throw new Refusal("invalid_tx_hash", {}, { field: "txHash" });
    const { chain, token } = body;
    const { outcome } = await this.link.execute({
      kind: "RegisterDeposit",
      stampMs: this.link.nowMs(),
      session: session.number,
      chain,
      txHash,
      token,
    });
    if (outcome.kind === "refused") throw sessionRefusal("RegisterDeposit", outcome);
    const deposit = this.link.views
      .deposits(session.account)
      .find((known) => known.chain === chain && known.txHash === `0x${txHash}`);
    if (deposit === undefined) throw new Error(`deposit ${chain} ${txHash} was not registered`);
    return withChecksums(deposit);
  }

  list({ account }: LiveSession): Deposit[] {
    return this.link.views.deposits(account).map(withChecksums);
  }

  read({ account }: LiveSession, depositId: string): Deposit {
    const deposit = this.link.views.deposit(account, Number(depositId));
    if (deposit === undefined) throw new Refusal("deposit_not_found", { depositId });
    return withChecksums(deposit);
  }
}

function withChecksums(deposit: Deposit): Deposit {
  return {
    ...deposit,
    credits: deposit.credits.map((credit) => ({ ...credit, account: checksummed(credit.account) })),
  };
}

/** The capitals of EIP-55; the venue keeps addresses in small letters. */
export function checksummed(address: string): string {
  return isAddress(address, { strict: false }) ? getAddress(address) : address;
}
