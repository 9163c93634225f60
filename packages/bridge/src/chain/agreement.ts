/**
 * Combines the views of several endpoints on one transaction. Before a credit, at least `minAgreeing`
 * endpoints must have responded, all with the same receipt. After a credit, `minAgreeing` equal
 * responses suffice, so that a lagging endpoint cannot hide a reorganisation.
 */

import type { ChainConfig } from "../config/chain-config.js";
import type { ChainView } from "./chain-view.js";
import { type ChainReceipt, isSameReceipt } from "./receipt.js";

export type EndpointAgreement =
  | { readonly kind: "silent" }
  | { readonly kind: "disagreed"; readonly endpoints: readonly string[] }
  /** In no block up to a head of this time. */
  | { readonly kind: "unknown"; readonly headTimeMs: number }
  /** `confirmations` is 0 if any endpoint has another canonical block at this number. */
  | {
      readonly kind: "mined";
      readonly receipt: ChainReceipt;
      readonly confirmations: number;
      readonly headTimeMs: number;
    };

type Rules = Pick<ChainConfig, "minAgreeing" | "finality" | "confirmations">;

export function agreementOn(
  txHash: string,
  views: readonly ChainView[],
  rules: Rules,
): EndpointAgreement {
  const responding = views.filter(({ receipts }) => receipts.has(txHash));
  if (responding.length < rules.minAgreeing) return { kind: "silent" };
  const groups = groupsOf(txHash, responding);
  if (groups.length === 1) return joined(txHash, responding, rules);
  return { kind: "disagreed", endpoints: responding.map(({ endpoint }) => endpoint) };
}

/** The view of the largest group of endpoints, if it is large enough and unique, and the others. */
export function majorityOn(
  txHash: string,
  views: readonly ChainView[],
  rules: Rules,
): { readonly agreement: EndpointAgreement; readonly dissenting: readonly string[] } {
  const responding = views.filter(({ receipts }) => receipts.has(txHash));
  if (responding.length < rules.minAgreeing)
    return { agreement: { kind: "silent" }, dissenting: [] };
  const groups = groupsOf(txHash, responding).sort((a, b) => b.length - a.length);
  const [largest = [], second = []] = groups;
  const endpoints = (members: readonly ChainView[]) => members.map(({ endpoint }) => endpoint);
  if (largest.length < rules.minAgreeing || largest.length === second.length) {
    const all = endpoints(responding);
    return { agreement: { kind: "disagreed", endpoints: all }, dissenting: all };
  }
  const dissenting = endpoints(responding.filter((view) => !largest.includes(view)));
  return { agreement: joined(txHash, largest, rules), dissenting };
}

/** Groups endpoints with equal responses. */
function groupsOf(txHash: string, responding: readonly ChainView[]): ChainView[][] {
  const groups: ChainView[][] = [];
  for (const view of responding) {
    const receipt = view.receipts.get(txHash) ?? null;
    const group = groups.find(([first]) => isSame(first?.receipts.get(txHash) ?? null, receipt));
    if (group === undefined) groups.push([view]);
    else group.push(view);
  }
  return groups;
}

/** The combined view of endpoints with equal responses. */
function joined(txHash: string, responding: readonly ChainView[], rules: Rules): EndpointAgreement {
  const receipt = responding[0]?.receipts.get(txHash) ?? null;
  const headTimeMs = Math.min(...responding.map(({ head }) => head.timeMs));
  if (receipt === null) return { kind: "unknown", headTimeMs };
  const confirmations = Math.min(
    ...responding.map((view) => confirmationsIn(view, receipt, rules)),
  );
  return { kind: "mined", receipt, confirmations, headTimeMs };
}

function isSame(a: ChainReceipt | null, b: ChainReceipt | null): boolean {
  return a === null || b === null ? a === b : isSameReceipt(a, b);
}

/**
 * The transaction's block counts as the first. With finality by the finalized block, the last
 * confirmation is given exactly when the block is finalized.
 */
function confirmationsIn(
  { head, canonical, finalized }: ChainView,
  receipt: ChainReceipt,
  { finality, confirmations: required }: Rules,
): number {
  if (canonical.get(receipt.blockNumber) !== receipt.blockHash) return 0;
  const count = Math.max(0, head.number - receipt.blockNumber + 1);
  if (finality === "confirmations") return count;
  const isFinal = finalized !== null && receipt.blockNumber <= finalized.number;
  return isFinal ? Math.max(count, required) : Math.min(count, required - 1);
}
