/**
 * Joins what several endpoints say about one transaction. Before a credit every endpoint that
 * answered must say the same, and enough must have answered; otherwise nothing is known and the
 * attestor waits. After it, enough endpoints that say the same suffice: one that has stayed behind
 * must not hide a reorganisation that the others see.
 */

import type { ChainConfig } from "../config/chain-config.js";
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

type Rules = Pick<ChainConfig, "minAgreeing" | "finality" | "confirmations">;

export function agreementOn(txHash: string, views: readonly ChainView[], rules: Rules): Agreement {
  const answered = views.filter(({ receipts }) => receipts.has(txHash));
  if (answered.length < rules.minAgreeing) return { kind: "silent" };
  const groups = groupsOf(txHash, answered);
  if (groups.length === 1) return joined(txHash, answered, rules);
  return { kind: "disagreed", endpoints: answered.map(({ endpoint }) => endpoint) };
}

/** What most endpoints say, if they are enough and no others are as many; and who says otherwise. */
export function majorityOn(
  txHash: string,
  views: readonly ChainView[],
  rules: Rules,
): { readonly agreement: Agreement; readonly dissenting: readonly string[] } {
  const answered = views.filter(({ receipts }) => receipts.has(txHash));
  if (answered.length < rules.minAgreeing) return { agreement: { kind: "silent" }, dissenting: [] };
  const groups = groupsOf(txHash, answered).sort((a, b) => b.length - a.length);
  const [largest = [], second = []] = groups;
  const endpoints = (members: readonly ChainView[]) => members.map(({ endpoint }) => endpoint);
  if (largest.length < rules.minAgreeing || largest.length === second.length) {
    const all = endpoints(answered);
    return { agreement: { kind: "disagreed", endpoints: all }, dissenting: all };
  }
  const dissenting = endpoints(answered.filter((view) => !largest.includes(view)));
  return { agreement: joined(txHash, largest, rules), dissenting };
}

/** Endpoints that say the same. */
function groupsOf(txHash: string, answered: readonly ChainView[]): ChainView[][] {
  const groups: ChainView[][] = [];
  for (const view of answered) {
    const receipt = view.receipts.get(txHash) ?? null;
    const group = groups.find(([first]) => isSame(first?.receipts.get(txHash) ?? null, receipt));
    if (group === undefined) groups.push([view]);
    else group.push(view);
  }
  return groups;
}

/** What endpoints say that all say the same. */
function joined(txHash: string, answered: readonly ChainView[], rules: Rules): Agreement {
  const receipt = answered[0]?.receipts.get(txHash) ?? null;
  const headTimeMs = Math.min(...answered.map(({ head }) => head.timeMs));
  if (receipt === null) return { kind: "unknown", headTimeMs };
  const confirmations = Math.min(...answered.map((view) => confirmationsIn(view, receipt, rules)));
  return { kind: "mined", receipt, confirmations, headTimeMs };
}

function isSame(a: Receipt | null, b: Receipt | null): boolean {
  return a === null || b === null ? a === b : isSameReceipt(a, b);
}

/**
 * Its own block counts as the first. Where the chain's finalized block decides, that block alone
 * brings the last confirmation, and brings it however few blocks follow.
 */
function confirmationsIn(
  { head, canonical, finalized }: ChainView,
  receipt: Receipt,
  { finality, confirmations: required }: Rules,
): number {
  if (canonical.get(receipt.blockNumber) !== receipt.blockHash) return 0;
  const count = Math.max(0, head.number - receipt.blockNumber + 1);
  if (finality === "confirmations") return count;
  const isFinal = finalized !== null && receipt.blockNumber <= finalized.number;
  return isFinal ? Math.max(count, required) : Math.min(count, required - 1);
}
