/** Finds the receipt of a nonce that was executed twice, and makes the evidence of it. */

import {
  EVIDENCE_FORMAT,
  type EvidenceReceipt,
  evidenceReceipt,
  isLogKey,
  type OpenedReceipt,
  openReceiptFile,
  receiptProblem,
  type TwiceEvidence,
  twiceProblem,
} from "@perpgate/protocol/receipts";
import { verifyEd25519 } from "./verify-ed25519.js";

/** The evidence, if one of the receipts holds and is for the same operation at another position. */
export async function twiceEvidence(
  opened: OpenedReceipt,
  receipts: readonly unknown[],
): Promise<TwiceEvidence | undefined> {
  const logKey = opened.logKey.publicKey;
  for (const file of receipts) {
    const other = openReceiptFile(file);
    if (typeof other === "string" || !isLogKey(opened.logKey, other.file.logKey)) continue;
    if (twiceProblem(opened, other) !== null) continue;
    const trust = { logKey, verify: verifyEd25519 };
    if ((await receiptProblem(other.receipt, trust)) !== null) continue;
    const { request } = opened.file;
    const first = { ...withLeaf(opened), ...(request === undefined ? {} : { request }) };
    const second = withLeaf(other);
    return { format: EVIDENCE_FORMAT, verdict: "twice", receipt: first, second };
  }
  return undefined;
}

function withLeaf(opened: OpenedReceipt): EvidenceReceipt {
  const { leaf } = opened.file;
  return { ...evidenceReceipt(opened), ...(leaf === undefined ? {} : { leaf }) };
}
