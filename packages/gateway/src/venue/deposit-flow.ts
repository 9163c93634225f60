/** Registers deposits by transaction hash, and reads them. */

import type {
  AttestedDeposit,
  Chain,
  Deposit,
  DepositBody,
  DepositsQuery,
  Token,
} from "@perpgate/protocol";
import {
  ApiError,
  checksumAddress,
  isChecksummedAddress,
  withoutHexPrefix,
} from "@perpgate/protocol/core";
import type { Attestation } from "./attestation.js";
import { sessionRefusal } from "./session-flow.js";
import type { LiveSession, VenueLink } from "./venue-link.js";
import { wholePage } from "./whole-page.js";

const TX_HASH = /^[0-9a-f]{64}$/;

export class DepositFlow {
  private readonly checksums = new AddressChecksums();

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
    return withChecksums(deposit, this.checksums);
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

  /** `onRead` gets the entries that were read and left out; the answer pays for its own. */
  list({ account }: LiveSession, query: DepositsQuery, onRead: (rows: number) => void): Deposit[] {
    const found = this.link.views.deposits(account, query);
    onRead(found.read - found.rows.length);
    return wholePage(found, query).map((deposit) => withChecksums(deposit, this.checksums));
  }

  read({ account }: LiveSession, depositId: string): AttestedDeposit {
    const deposit = this.link.views.deposit(account, Number(depositId));
    if (deposit === undefined) throw new ApiError("deposit_not_found", { depositId });
    return withChecksums(deposit, this.checksums);
  }
}

function tooManyUnseen(limit: number): ApiError {
  return new ApiError("too_many_unseen_deposits", { limit });
}

const MAX_CHECKSUMS = 10_000;

/** Addresses with their EIP-55 checksum, which takes 25 µs: one deposit may credit a thousand accounts. */
export class AddressChecksums {
  private readonly known = new Map<string, string>();

  of(address: string): string {
    const known = this.known.get(address);
    if (known !== undefined) return known;
    if (this.known.size === MAX_CHECKSUMS) this.known.clear();
    const checked = checksummed(address);
    this.known.set(address, checked);
    return checked;
  }
}

/** With EIP-55 checksums in every address. */
export function withChecksums<D extends Deposit>(deposit: D, checksums: AddressChecksums): D {
  return {
    ...deposit,
    credits: deposit.credits.map((credit) => ({
      ...credit,
      account: checksums.of(credit.account),
    })),
  };
}

/** The EIP-55 checksum; the venue stores addresses in lower case. */
export function checksummed(address: string): string {
  return isChecksummedAddress(address) ? checksumAddress(address) : address;
}
