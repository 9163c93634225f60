/** What a proof that holds proves, in words: the same for the command line and the page. */

import { parseWitnessKey } from "./cosignatures.js";
import type { CheckedProof, ProofKeys } from "./order-proof.js";

/** Labels with texts; a label may come several times. */
export function proofSummary(checked: CheckedProof, keys: ProofKeys): [label: string, string][] {
  const { leaf, block, checkpoint, logKey } = checked;
  const pinned = keys.logKey !== undefined;
  return [
    ["order", String(leaf.orderId)],
    ["block", `${block.number}, sealed ${new Date(block.timeMs).toISOString()}`],
    ["checkpoint", `${checkpoint.size} blocks, signed by ${logKey.name}`],
    ["log key", pinned ? "pinned" : "the one in the file: compare it with a pinned one"],
    ...witnessTexts(checked, keys.witnessKeys ?? []).map((text): [string, string] => {
      return ["witness", text];
    }),
  ];
}

/** Names under the checkpoint, other than the log's, verified or not. */
export function signersOf({ checkpoint: { note, origin } }: CheckedProof): string[] {
  const names = new Set(note.signatures.map(({ name }) => name));
  names.delete(origin);
  return [...names];
}

function witnessTexts(checked: CheckedProof, witnessKeys: readonly string[]): string[] {
  const signers = signersOf(checked);
  const given = new Set(witnessKeys.map((text) => parseWitnessKey(text)?.name ?? text));
  const names = [...new Set([...signers, ...given])];
  if (names.length === 0) return ["none"];
  return names.map((name) => {
    if (checked.cosigners.includes(name)) return `${name}: verified`;
    if (!signers.includes(name)) return `${name}: did not cosign this checkpoint`;
    const reason = given.has(name)
      ? "it signed with another key than the one given"
      : "no key given";
    return `${name}: not checked: ${reason}`;
  });
}
