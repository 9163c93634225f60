/** Checks the proof file of an order without any network. */

import { type CheckedProof, checkOrderProof as check } from "@perpgate/protocol/receipts";
import { verifyEd25519 } from "./verify-ed25519.js";

/**
 * What a proof file proves, or why it proves nothing. Pass the log's key that you pinned: without it the
 * key in the file is used, and the proof shows only that its parts fit together.
 *
 * @example
 * const { logKey } = await client.honesty(); // better: the one that you wrote down
 * const text = await session.preconfirmProof("48213");
 * const checked = await checkOrderProof(text, logKey);
 * console.log(typeof checked === "string" ? checked : checked.leaf.orderId);
 */
export function checkOrderProof(text: string, logKey?: string): Promise<CheckedProof | string> {
  return check(text, verifyEd25519, logKey);
}
