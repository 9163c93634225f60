/** Checks files of proof without any network: of an order, of a broken promise, of what the venue owes. */

import type { Liability, Reserves } from "@perpgate/protocol";
import {
  type CheckedEvidence,
  type CheckedProof,
  type CheckedReservesFile,
  checkReservesProof,
  liabilityFault,
  type ProofKeys,
  type ReservesLeaf,
  verifyEvidence,
  verifyOrderProof,
  verifyReservesFile,
} from "@perpgate/protocol/receipts";
import { verifyEd25519 } from "./verify-ed25519.js";

export type { CheckedEvidence, CheckedProof, ProofKeys };

/**
 * What a proof file proves, or why it proves nothing. Pass the log's key that you pinned: without it the
 * key in the file is used, and the proof shows only that its parts fit together.
 *
 * `cosigners` names the witnesses whose cosignatures hold under the keys in `witnessKeys`. A cosignature by
 * one of these keys that does not hold makes the proof fail; those of other keys are not checked.
 *
 * @example
 * const { logKey, witnesses } = await client.honesty(); // better: those that you wrote down
 * const text = await session.preconfirmProof("48213");
 * const checked = await checkOrderProof(text, { logKey, witnessKeys: witnesses });
 * console.log(typeof checked === "string" ? checked : [checked.leaf.orderId, checked.cosigners]);
 */
export function checkOrderProof(
  text: string,
  keys: string | ProofKeys = {},
): Promise<CheckedProof | string> {
  return verifyOrderProof(text, verifyEd25519, typeof keys === "string" ? { logKey: keys } : keys);
}

/**
 * What the text of an evidence file proves, or why it proves nothing. Pass the log's key that you pinned:
 * without it anyone can make evidence against a log of their own.
 *
 * @example
 * const [file] = session.receipts.files;
 * const verdict = await judgeReceipt(file, { url: client.url });
 * const text = verdict.verdict === "broken" ? JSON.stringify(verdict.evidence) : "";
 * const { logKey } = await client.honesty(); // better: the one that you wrote down
 * const checked = await checkEvidence(text, { logKey });
 * console.log(typeof checked === "string" ? checked : checked.verdict);
 */
export function checkEvidence(
  text: string,
  keys: ProofKeys = {},
): Promise<CheckedEvidence | string> {
  return verifyEvidence(text, verifyEd25519, keys);
}

/**
 * The commitment to what the venue owes, as its proof shows it, or why it is not proven. With `own`, the account's
 * address and its leaf, also whether the balance is in it. Pass the log's key and the witnesses' that you pinned.
 *
 * @example
 * const { logKey, witnesses } = await client.honesty(); // better: those that you wrote down
 * const own = { address: session.address, liability: await session.liability() };
 * const checked = await checkReserves(await client.reserves(), own, { logKey, witnessKeys: witnesses });
 * console.log(typeof checked === "string" ? checked : checked.sumMicros / 1e6);
 */
export async function checkReserves(
  { liabilities }: Reserves,
  own?: { readonly address: string; readonly liability: Liability },
  keys: ProofKeys = {},
): Promise<ReservesLeaf | string> {
  if (liabilities === null) return "the venue has committed to nothing yet";
  if (liabilities.proof === null) return "no checkpoint covers the commitment yet";
  const checked = await checkReservesProof(liabilities.proof, verifyEd25519, keys);
  if (typeof checked === "string") return checked;
  const { leaf } = checked;
  const isShown =
    `0x${leaf.root}` === liabilities.root &&
    String(leaf.position) === liabilities.position &&
    leaf.sumMicros === Math.round(liabilities.sum * 1e6) &&
    leaf.leaves === liabilities.leaves;
  if (!isShown) return "the proof is of another commitment";
  if (own === undefined) return leaf;
  return liabilityFault(own.liability, leaf, own.address) ?? leaf;
}

/**
 * Checks a file of `perpgate reserves --save`, or the proof of a commitment alone, without any network. With
 * `address` the leaf must be that account's.
 *
 * @example
 * import { readFile } from "node:fs/promises";
 * import { checkReservesFile } from "@perpgate/sdk";
 *
 * const text = await readFile("reserves.json", "utf8");
 * const checked = await checkReservesFile(text);
 * console.log(typeof checked === "string" ? checked : checked.liability?.balanceMicros);
 */
export function checkReservesFile(
  text: string,
  keys: ProofKeys = {},
  address?: string,
): Promise<CheckedReservesFile | string> {
  return verifyReservesFile(text, verifyEd25519, keys, address);
}
