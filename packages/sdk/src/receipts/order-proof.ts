/** Checks the proof file of an order without any network. */

import {
  type CheckedProof,
  verifyOrderProof as check,
  type ProofKeys,
} from "@perpgate/protocol/receipts";
import { verifyEd25519 } from "./verify-ed25519.js";

export type { CheckedProof, ProofKeys };

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
  return check(text, verifyEd25519, typeof keys === "string" ? { logKey: keys } : keys);
}
