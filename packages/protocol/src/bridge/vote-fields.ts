/** Fields that votes of both formats have in common. */

import type { VoteVerdict } from "./vote.js";

export function wordOf<T extends string>(words: readonly T[], text: string | undefined): T {
  const found = words.find((word) => word === text);
  if (found === undefined) throw new RangeError(`unknown word: ${text}`);
  return found;
}

export function linesOf(text: string): string[] {
  return text.split("\n").slice(0, -1);
}

export function isReasoned(vote: { readonly verdict: VoteVerdict; readonly reason: string }) {
  const needsReason = vote.verdict === "reject" || vote.verdict === "reorged";
  return needsReason ? /^[a-z][a-z0-9_]{0,63}$/.test(vote.reason) : vote.reason === "";
}

export function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

export function isAddress(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}
