/** What an attestor says about a withdrawal on its chain: what enough endpoints see alike, or nothing. */

import type { VoteBlock } from "@perpgate/protocol";
import type { WithdrawalTerms } from "@perpgate/protocol/core";
import {
  ENTRY_STATUS,
  findLog,
  isCanonical,
  type VaultEntry,
  type VaultLog,
  type VaultView,
} from "./vault-view.js";

export type Sighting =
  | { readonly verdict: "pending" | "paid"; readonly txHash: string; readonly block: VoteBlock }
  | { readonly verdict: "unpaid"; readonly txHash: ""; readonly block: VoteBlock };

/** The vault has another payment under the id than the log: at this endpoint. */
export const OTHER_PAYMENT = "other payment";

interface FoundEvent {
  /** Another one after a reorganisation that moved the request. */
  readonly requestedAt: number;
  readonly log: VaultLog;
}

/** Events that endpoints have shown, so that each is searched for once. */
export class FoundEvents {
  private readonly byId = new Map<number, Map<string, FoundEvent>>();

  get(id: number, key: string): FoundEvent | undefined {
    return this.byId.get(id)?.get(key);
  }

  set(id: number, key: string, event: FoundEvent): void {
    const events = this.byId.get(id) ?? new Map<string, FoundEvent>();
    this.byId.set(id, events.set(key, event));
  }

  forget(id: number): void {
    this.byId.delete(id);
  }

  /** Forgets those of other withdrawals. */
  keep(ids: ReadonlySet<number>): void {
    for (const id of this.byId.keys()) if (!ids.has(id)) this.byId.delete(id);
  }
}

/** By one endpoint; null: there is nothing to say. */
export async function sightingIn(
  view: VaultView,
  terms: WithdrawalTerms,
  found: FoundEvents,
): Promise<Sighting | typeof OTHER_PAYMENT | null> {
  const entry = view.entries.get(BigInt(terms.withdrawalId));
  const { finalized } = view;
  if (entry === undefined) return null;
  const isPaid = entry.status === ENTRY_STATUS.PAID;
  const isRequested = isPaid || entry.status === ENTRY_STATUS.PENDING;
  if (isRequested && !isSamePayment(entry, terms)) return OTHER_PAYMENT;
  if (isPaid) {
    const paid = await eventOf(view, "Paid", entry, terms, found);
    if (paid !== undefined && paid.block.number <= finalized.number) {
      return { verdict: "paid", ...paid };
    }
  } else if (finalized.timeMs > terms.deadline * 1_000) {
    // Nothing is paid after the deadline, so what the newest block says is final.
    return { verdict: "unpaid", txHash: "", block: shortOf(finalized) };
  }
  if (!isRequested) return null;
  const requested = await eventOf(view, "Requested", entry, terms, found);
  return requested === undefined ? null : { verdict: "pending", ...requested };
}

async function eventOf(
  view: VaultView,
  name: "Requested" | "Paid",
  entry: VaultEntry,
  { vault, withdrawalId }: WithdrawalTerms,
  found: FoundEvents,
) {
  const key = `${name} ${view.endpoint}`;
  const { requestedAt } = entry;
  const known = found.get(withdrawalId, key);
  if (known?.requestedAt === requestedAt && (await holds(view, name, known.log))) {
    return { txHash: known.log.txHash, block: shortOf(known.log.block) };
  }
  const log = await findLog(view, vault, name, withdrawalId, requestedAt * 1_000);
  if (log === undefined) return undefined;
  found.set(withdrawalId, key, { requestedAt, log });
  return { txHash: log.txHash, block: shortOf(log.block) };
}

/** A payment is looked at again when its block is final. Nothing depends on where a request is. */
async function holds(view: VaultView, name: "Requested" | "Paid", log: VaultLog): Promise<boolean> {
  if (name === "Requested" || log.block.number > view.finalized.number) return true;
  return isCanonical(view, log);
}

function shortOf({ number, hash }: VoteBlock): VoteBlock {
  return { number, hash };
}

function isSamePayment(
  entry: VaultEntry,
  { contract, account, amount, deadline }: WithdrawalTerms,
): boolean {
  return (
    entry.token === `0x${contract}` &&
    entry.account === `0x${account}` &&
    entry.amount === amount &&
    entry.deadline === BigInt(deadline)
  );
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
