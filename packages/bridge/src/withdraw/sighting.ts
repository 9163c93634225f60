/** What an attestor says about a withdrawal on its chain: what enough endpoints see alike, or nothing. */

import type { VoteBlock } from "@perpgate/protocol";
import type { WithdrawalTerms } from "@perpgate/protocol/core";
import { ENTRY_STATUS, findLog, type VaultEntry, type VaultView } from "./vault-view.js";

export type Sighting =
  | { readonly verdict: "pending" | "paid"; readonly txHash: string; readonly block: VoteBlock }
  | { readonly verdict: "unpaid"; readonly txHash: ""; readonly block: VoteBlock };

/** The vault has another payment under the id than the log. */
export class OtherPayment extends Error {
  override readonly name = "OtherPayment";
}

/** By one endpoint; null: there is nothing to say. @throws OtherPayment */
export async function sightingIn(
  view: VaultView,
  terms: WithdrawalTerms,
): Promise<Sighting | null> {
  const entry = view.entries.get(BigInt(terms.withdrawalId));
  const { finalized } = view;
  if (entry === undefined) return null;
  if (entry.status === ENTRY_STATUS.PAID || entry.status === ENTRY_STATUS.PENDING) {
    refuseOther(entry, terms);
  }
  if (entry.status === ENTRY_STATUS.PAID) {
    const paid = await eventOf(view, "Paid", entry, terms);
    if (paid !== undefined && paid.block.number <= finalized.number) {
      return { verdict: "paid", ...paid };
    }
  } else if (finalized.timeMs > terms.deadline * 1_000) {
    // Nothing is paid after the deadline, so what the newest block says is final.
    return { verdict: "unpaid", txHash: "", block: shortOf(finalized) };
  }
  if (entry.status !== ENTRY_STATUS.PAID && entry.status !== ENTRY_STATUS.PENDING) return null;
  const requested = await eventOf(view, "Requested", entry, terms);
  return requested === undefined ? null : { verdict: "pending", ...requested };
}

async function eventOf(
  view: VaultView,
  name: "Requested" | "Paid",
  entry: VaultEntry,
  { vault, withdrawalId }: WithdrawalTerms,
) {
  const found = await findLog(view, vault, name, withdrawalId, entry.requestedAt * 1_000);
  return found === undefined ? undefined : { txHash: found.txHash, block: shortOf(found.block) };
}

function shortOf({ number, hash }: VoteBlock): VoteBlock {
  return { number, hash };
}

function refuseOther(
  entry: VaultEntry,
  { contract, account, amount, deadline, withdrawalId }: WithdrawalTerms,
): void {
  const isSame =
    entry.token === `0x${contract}` &&
    entry.account === `0x${account}` &&
    entry.amount === amount &&
    entry.deadline === BigInt(deadline);
  if (!isSame) throw new OtherPayment(`the vault has another payment as ${withdrawalId}`);
}

/** Null unless at least `minAgreeing` see something, and all of them the same. */
export function agreedSighting(
  sightings: readonly (Sighting | null)[],
  minAgreeing: number,
): Sighting | null {
  const [first] = sightings;
  if (first === undefined || first === null || sightings.length < minAgreeing) return null;
  const isSame = (other: Sighting | null): boolean =>
    other?.verdict === first.verdict &&
    other.txHash === first.txHash &&
    // After the deadline each endpoint has a finalized block of its own.
    (first.verdict === "unpaid" || other.block.hash === first.block.hash);
  return sightings.every(isSame) ? first : null;
}
