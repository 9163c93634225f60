/** What a proof or evidence proves, in words: the same for the command line and the page. */

import { ORDER_TYPES } from "../blocks/acknowledgement-leaf.js";
import { fromMicros } from "../numbers/units.js";
import { orderIdText } from "../orders/order-id.js";
import type { OpenedCheckpoint } from "./checkpoint.js";
import type { CheckedEvidence } from "./evidence.js";
import type { ProofKeys } from "./leaf-proof.js";
import type { CheckedProof } from "./order-proof.js";
import type { CheckedReservesFile } from "./reserves-proof.js";
import { sealedAcknowledgement } from "./shown-acknowledgement.js";
import { type NoteKey, parseWitnessKey } from "./signed-note.js";

type Row = readonly [label: string, text: string];

/** Anyone can make a log of their own, and proofs under its key. */
export function proofHeading(isPinned: boolean): string {
  return isPinned ? "Proven" : "Consistent, key not pinned";
}

/** Labels with texts; a label may come several times. */
export function proofSummary(checked: CheckedProof, keys: ProofKeys): Row[] {
  const { leaf, block, checkpoint, logKey } = checked;
  return [
    ["order", orderIdText(leaf.orderId)],
    ...figures(checked),
    ["block", `${block.number}, sealed ${timeText(block.timeMs)}`],
    ...trustRows(checkpoint, logKey, keys),
  ];
}

/** What the leaf says. Lots and money are sealed; sizes and prices follow from the file's units. */
function figures({ leaf, market }: CheckedProof): Row[] {
  const { symbol, lotSize } = market;
  const sealed = sealedAcknowledgement(leaf, market);
  if (typeof sealed === "string") return [["figures", `not shown: ${sealed}`]];
  const units: Row = [
    "units",
    `${symbol}, lots of ${lotSize}: as the file says, they are not sealed`,
  ];
  if ("kind" in leaf || !("positionAfter" in sealed)) {
    return [["status", "canceled, requested"], ["size", `${sealed.remainingSize} left`], units];
  }
  const { side, status, filledSize, remainingSize, avgFillPrice, reason } = sealed;
  const isFilled = leaf.filledLots > 0;
  const value = isFilled
    ? ` (${leaf.filledLots} lots for ${fromMicros(leaf.filledMicros)} dollars)`
    : "";
  return [
    ["side", `${side}, ${ORDER_TYPES[leaf.type]}`],
    ["size", `${filledSize} filled, ${remainingSize} left`],
    ["price", isFilled ? `${avgFillPrice}${value}` : "none: nothing was filled"],
    ["fee", `${sealed.feePaid} dollars`],
    ["status", reason === null ? status : `${status}, ${reason}`],
    ...(sealed.exits ?? []).map(({ orderId, kind }): Row => ["exit", `${orderId}, ${kind}`]),
    units,
  ];
}

export function evidenceSummary(checked: CheckedEvidence, keys: ProofKeys): Row[] {
  const { statement, checkpoint, logKey } = checked;
  return [
    ["promised", `position ${statement.position} in block ${statement.block}`],
    ["time", timeText(statement.timeMs)],
    ...(checkpoint === undefined ? [logKeyRow(keys)] : trustRows(checkpoint, logKey, keys)),
  ];
}

export function reservesSummary(checked: CheckedReservesFile, keys: ProofKeys): Row[] {
  const { leaf, block, checkpoint, liability } = checked;
  const own =
    liability &&
    ([
      ["account", liability.address],
      ["balance", `${fromMicros(liability.balanceMicros)} dollars`],
    ] satisfies Row[]);
  return [
    ["owed", `${fromMicros(leaf.sumMicros)} dollars to ${leaf.leaves} accounts`],
    ...(own ?? []),
    ["counted", `after position ${leaf.position}`],
    ["block", `${block.number}, sealed ${timeText(block.timeMs)}`],
    ...trustRows(checkpoint, checkpoint.logKey, keys),
  ];
}

/** What a file of reserves says, in a sentence without its end. */
export function reservesText({ leaf, liability }: CheckedReservesFile): string {
  const owed = `the ${fromMicros(leaf.sumMicros)} dollars that the venue owed`;
  return liability === null
    ? `${owed} are sealed`
    : `${fromMicros(liability.balanceMicros)} dollars of ${liability.address} are among ${owed}`;
}

function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

function trustRows(checkpoint: OpenedCheckpoint, logKey: NoteKey, keys: ProofKeys): Row[] {
  return [
    ["checkpoint", `${checkpoint.size} blocks, signed by ${logKey.name}`],
    logKeyRow(keys),
    ...witnessTexts(checkpoint, keys.witnessKeys ?? []).map((text): Row => ["witness", text]),
  ];
}

function logKeyRow({ logKey }: ProofKeys): Row {
  const isPinned = logKey !== undefined;
  return ["log key", isPinned ? "pinned" : "the one in the file: compare it with a pinned one"];
}

/** Names under the checkpoint, other than the log's, verified or not. */
export function signersOf({ note, origin }: OpenedCheckpoint): string[] {
  const names = new Set(note.signatures.map(({ name }) => name));
  names.delete(origin);
  return [...names];
}

function witnessTexts(checkpoint: OpenedCheckpoint, witnessKeys: readonly string[]): string[] {
  const signers = signersOf(checkpoint);
  const given = new Set(witnessKeys.map((text) => parseWitnessKey(text)?.name ?? text));
  const names = [...new Set([...signers, ...given])];
  if (names.length === 0) return ["none"];
  return names.map((name) => {
    if (checkpoint.cosigners.includes(name)) return `${name}: verified`;
    if (!signers.includes(name)) return `${name}: did not cosign this checkpoint`;
    const reason = given.has(name)
      ? "it signed with another key than the one given"
      : "no key given";
    return `${name}: not checked: ${reason}`;
  });
}
