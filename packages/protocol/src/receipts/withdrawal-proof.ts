/** The proof that a request of a withdrawal is sealed (leaf-proof.ts): what an attestor signs on. */

import { readWithdrawalLeaf, type WithdrawalLeaf } from "../bridge/withdrawal-leaf.js";
import {
  checkLeaf,
  encodeLeafProof,
  type LeafProof,
  type ProofKeys,
  type ProvenLeaf,
  parseLeafProof,
} from "./leaf-proof.js";
import type { VerifyEd25519 } from "./signed-note.js";

const WITHDRAWAL_PROOF_FORMAT = "perpgate-withdrawal-proof/1";

const WITHDRAWAL = {
  name: "a withdrawal",
  read: readWithdrawalLeaf,
  seqOf: ({ withdrawalId }: WithdrawalLeaf) => withdrawalId,
};

interface CheckedWithdrawal extends ProvenLeaf {
  readonly leaf: WithdrawalLeaf;
}

export function encodeWithdrawalProof(proof: LeafProof): string {
  return encodeLeafProof(proof, WITHDRAWAL_PROOF_FORMAT);
}

/** What the proof proves, or why it proves nothing. */
export function checkWithdrawalProof(
  text: string,
  verify: VerifyEd25519,
  keys: ProofKeys = {},
): Promise<CheckedWithdrawal | string> {
  return checkLeaf(WITHDRAWAL, parseLeafProof(text, WITHDRAWAL_PROOF_FORMAT), verify, keys);
}
