/**
 * The call that starts a payment, from the votes on a withdrawal as anyone may hand them over. The venue does
 * not check an attestor's signature for the vault, so one vote that is wrong must not spoil the others: what
 * is not by a member over its own text, for this vault, is left out.
 */

import { parseWithdrawalVote, type WithdrawalVote } from "@perpgate/protocol/core";
import { type Hex, isAddressEqual } from "viem";
import {
  joinSignatures,
  type SignerGroup,
  type VaultDomain,
  type VaultWithdrawal,
  vaultDigest,
  vaultSignerOf,
} from "./typed-data.js";

export interface VaultRequest {
  readonly withdrawal: VaultWithdrawal;
  /** Exactly a quorum, as the vault takes them. */
  readonly signatures: Hex;
}

/** Two of each of the most attestors that a vault can have. */
const MAX_VOTES = 64;

/** `value` is a withdrawal as the API returns it. Returns why there is no request. */
export async function requestOfVotes(
  value: unknown,
  domain: VaultDomain,
  group: SignerGroup,
): Promise<VaultRequest | string> {
  const { votes } = Object(value);
  if (!Array.isArray(votes)) return "it is no withdrawal with votes";
  if (votes.length > MAX_VOTES) return `it has more than ${MAX_VOTES} votes`;
  const byDigest = new Map<Hex, { withdrawal: VaultWithdrawal; bySigner: Map<string, Hex> }>();
  for (const each of votes) {
    const { text } = Object(each);
    const vote = typeof text === "string" ? parseWithdrawalVote(text) : undefined;
    if (vote === undefined || vote.verdict !== "signed" || !isFor(vote, domain)) continue;
    const withdrawal = signedBy(vote);
    const digest = vaultDigest(domain, "Withdrawal", withdrawal);
    const signature: Hex = `0x${vote.vaultSignature}`;
    const signer = await vaultSignerOf(digest, signature);
    if (signer === undefined || !group.members.some((each) => isAddressEqual(each, signer))) {
      continue;
    }
    const found = byDigest.get(digest) ?? { withdrawal, bySigner: new Map<string, Hex>() };
    byDigest.set(digest, found);
    found.bySigner.set(signer, signature);
  }
  for (const [digest, { withdrawal, bySigner }] of byDigest) {
    const result = await joinSignatures(digest, [...bySigner.values()], group);
    if ("joined" in result) return { withdrawal, signatures: result.joined };
  }
  const most = Math.max(0, ...[...byDigest.values()].map(({ bySigner }) => bySigner.size));
  return `${most} of ${group.quorum} attestors of the vault have signed`;
}

function isFor({ venue, chainId, vault }: WithdrawalVote, domain: VaultDomain): boolean {
  return (
    `0x${venue}` === domain.venueId.toLowerCase() &&
    chainId === domain.chainId &&
    `0x${vault}` === domain.vault.toLowerCase()
  );
}

function signedBy(vote: WithdrawalVote): VaultWithdrawal {
  return {
    token: `0x${vote.contract}`,
    account: `0x${vote.account}`,
    amount: vote.amount,
    id: BigInt(vote.withdrawalId),
    deadline: BigInt(vote.deadline),
  };
}
