/** Checks the evidence of a broken promise without any network. */

import {
  type CheckedEvidence,
  verifyEvidence as check,
  type ProofKeys,
} from "@perpgate/protocol/receipts";
import { verifyEd25519 } from "./verify-ed25519.js";

export type { CheckedEvidence };

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
  return check(text, verifyEd25519, keys);
}
