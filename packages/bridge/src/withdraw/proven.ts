/** What the venue's log asks for, by a proof under a checkpoint with the required cosignatures. */

import type { WithdrawalLeaf } from "@perpgate/protocol/core";
import { checkWithdrawalProof, type ProofKeys } from "@perpgate/protocol/receipts";
import { verifyText } from "../vote.js";

/** The proven withdrawal, or why nothing is proven. */
export async function provenLeaf(proof: string, keys: ProofKeys): Promise<WithdrawalLeaf | string> {
  const checked = await checkWithdrawalProof(proof, verifyText, keys);
  return typeof checked === "string" ? checked : checked.leaf;
}
