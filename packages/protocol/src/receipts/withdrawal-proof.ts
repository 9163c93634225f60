/** The proof that a request of a withdrawal is sealed (leaf-proof.ts): what an attestor signs on. */

import { readWithdrawalLeaf, type WithdrawalLeaf } from "../bridge/withdrawal-leaf.js";
import {
  encodeLeafProof,
  type LeafProof,
  type ProofKeys,
  type ProvenLeaf,
  parseLeafProof,
  provenLeaf,
} from "./leaf-proof.js";
import type { VerifyEd25519 } from "./signed-note.js";

const WITHDRAWAL_PROOF_FORMAT = "perpgate-withdrawal-proof/1";

interface CheckedWithdrawal extends ProvenLeaf {
  readonly leaf: WithdrawalLeaf;
}

export function encodeWithdrawalProof(proof: LeafProof): string {
  return encodeLeafProof(proof, WITHDRAWAL_PROOF_FORMAT);
}

/** What the proof proves, or why it proves nothing. */
export async function checkWithdrawalProof(
  text: string,
  verify: VerifyEd25519,
  keys: ProofKeys = {},
): Promise<CheckedWithdrawal | string> {
  const proof = parseLeafProof(text, WITHDRAWAL_PROOF_FORMAT);
  if (proof === undefined) return "the text is no proof of a withdrawal";
  const proven = await provenLeaf(proof, verify, keys);
  if (typeof proven === "string") return proven;
  const leaf = readWithdrawalLeaf(proof.leaf);
  if (leaf === undefined) return "the leaf is none of a withdrawal";
  const { block } = proven;
  const isWithin =
    block.firstPosition <= leaf.withdrawalId && leaf.withdrawalId <= block.lastPosition;
  if (leaf.block !== block.number || !isWithin) {
    return `the leaf names block ${leaf.block} and position ${leaf.withdrawalId}`;
  }
  return { ...proven, leaf };
}
