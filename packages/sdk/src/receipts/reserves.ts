/** Checks what the venue says that it owes. */

import type { Liability, Reserves } from "@perpgate/protocol";
import {
  type CheckedReservesFile,
  verifyReservesFile as check,
  checkReservesProof,
  liabilityFault,
  type ProofKeys,
  type ReservesLeaf,
} from "@perpgate/protocol/receipts";
import { verifyEd25519 } from "./verify-ed25519.js";

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
  return check(text, verifyEd25519, keys, address);
}
