/**
 * Joins what several endpoints say about one transaction. Every endpoint that answered must say
 * the same, and enough must have answered; otherwise nothing is known and the attestor waits.
 */

import type { ChainView } from "./chain-view.js";
import { isSameReceipt, type Receipt } from "./receipt.js";

export type Agreement =
  | { readonly kind: "silent" }
  | { readonly kind: "disagreed"; readonly endpoints: readonly string[] }
  /** In no block, by a head of that time. */
  | { readonly kind: "unknown"; readonly headTimeMs: number }
  /** `confirmations` is 0 where any endpoint's canonical block at that number is another one. */
  | {
      readonly kind: "mined";
      readonly receipt: Receipt;
      readonly confirmations: number;
      readonly headTimeMs: number;
    };

export function agreementOn(
  txHash: string,
  views: readonly ChainView[],
  minAgreeing: number,
): Agreement {
  const answered = views.filter(({ receipts }) => receipts.has(txHash));
  const [first] = answered;
  if (first === undefined || answered.length < minAgreeing) return { kind: "silent" };
  const receipt = first.receipts.get(txHash) ?? null;
  const others = answered.slice(1);
  if (!others.every((view) => isSame(receipt, view.receipts.get(txHash) ?? null))) {
    return { kind: "disagreed", endpoints: answered.map(({ endpoint }) => endpoint) };
  }
  const headTimeMs = Math.min(...answered.map(({ head }) => head.timeMs));
  if (receipt === null) return { kind: "unknown", headTimeMs };
  const confirmations = Math.min(...answered.map((view) => confirmationsIn(view, receipt)));
  return { kind: "mined", receipt, confirmations, headTimeMs };
}

function isSame(a: Receipt | null, b: Receipt | null): boolean {
  return a === null || b === null ? a === b : isSameReceipt(a, b);
}

/** Its own block counts as the first. */
function confirmationsIn({ head, canonical }: ChainView, receipt: Receipt): number {
  if (canonical.get(receipt.blockNumber) !== receipt.blockHash) return 0;
  return Math.max(0, head.number - receipt.blockNumber + 1);
}
