/**
 * Evidence of a broken promise: a receipt and what the venue itself signed against it. The file proves the
 * verdict to anyone who has the log's key; docs/receipts.md has the rules that another program needs.
 *
 *   absent     a block that a checkpoint covers, whose complete list lacks the receipt's position
 *   elsewhere  the same leaf under another position or block
 *   different  another leaf at the position
 *   forked     a block before the receipt's has another hash under a checkpoint, or two checkpoints of one
 *              log that no single log can have
 *   misdated   the receipt's time is before that of the block before its block, or after its block's
 *   twice      two receipts for one session, nonce and index within the batch, at two positions
 */

import { sha256 } from "@noble/hashes/sha2.js";
import type { BlockHeader } from "../blocks/block-header.js";
import { provenAcks, provenHeader } from "./block-proof.js";
import { equalBytes } from "./bytes.js";
import { type OpenedCheckpoint, openCheckpoint } from "./checkpoint.js";
import { type WitnessPolicy, witnessPolicy } from "./cosignatures.js";
import { type BrokenKind, type OpenedEvidence, openEvidence } from "./evidence-file.js";
import type { ProofKeys } from "./leaf-proof.js";
import type { ReceiptStatement } from "./receipt.js";
import { receiptProblem } from "./receipt-check.js";
import type { OpenedReceipt } from "./receipt-file.js";
import { type NoteKey, noteKeyText, parseLogKey, type VerifyEd25519 } from "./signed-note.js";
import { logKeyChain } from "./successors.js";
import { rootsOfConsistency } from "./tree.js";
import { twiceProblem } from "./twice.js";

export interface CheckedEvidence {
  readonly verdict: BrokenKind;
  /** What was promised. */
  readonly statement: ReceiptStatement;
  readonly logKey: NoteKey;
  /** Undefined for `twice`, which needs none. */
  readonly checkpoint: OpenedCheckpoint | undefined;
}

/** What the text of evidence proves, or why it proves nothing. */
export async function verifyEvidence(
  text: string,
  verify: VerifyEd25519,
  { logKey: pinned, ...witnesses }: ProofKeys = {},
): Promise<CheckedEvidence | string> {
  const evidence = openEvidence(text);
  if (typeof evidence === "string") return evidence;
  const policy = witnessPolicy(witnesses);
  if (typeof policy === "string") return policy;
  const { logKey, receipt } = evidence.receipt;
  const logKeys = await logKeyChain(logKey, evidence.successors, verify);
  if (typeof logKeys === "string") return logKeys;
  const isPinned = (key: NoteKey) => pinned === undefined || isLogKey(key, pinned);
  if (!logKeys.some(isPinned)) return "it is of another log key";
  const problem = await receiptProblem(receipt, { logKey: logKey.publicKey, verify });
  if (problem !== null) return problem;
  const { statement } = receipt;
  if (evidence.verdict === "twice") {
    const reason = await twiceProblemOf(evidence.receipt, evidence.second, logKeys, verify);
    return reason ?? { verdict: "twice", statement, logKey, checkpoint: undefined };
  }
  const checkpoint = await openCheckpoint(evidence.checkpoint, logKeys, verify, policy);
  if (typeof checkpoint === "string") return checkpoint;
  if (evidence.verdict === "two checkpoints") {
    const reason = await forkProblem(evidence, logKeys, checkpoint, policy, verify);
    return reason ?? { verdict: "forked", statement, logKey, checkpoint };
  }
  const { verdict, block } = evidence;
  const header = provenHeader(block, checkpoint);
  if (typeof header === "string") return header;
  const reason = isAboutTimeOrChain(verdict)
    ? headerProblem(verdict, header, block.header, statement)
    : listProblem(verdict, header, block.list, statement);
  return reason ?? { verdict, statement, logKey, checkpoint };
}

/** Whether a text is the log's key, also with spaces around it. */
export function isLogKey(key: NoteKey, text: string): boolean {
  const other = parseLogKey(text);
  return other !== undefined && noteKeyText(other) === noteKeyText(key);
}

async function twiceProblemOf(
  one: OpenedReceipt,
  other: OpenedReceipt,
  logKeys: readonly NoteKey[],
  verify: VerifyEd25519,
): Promise<string | null> {
  const isOwn = logKeys.some((key) => isLogKey(key, other.file.logKey));
  if (!isOwn) return "the receipts are of two log keys";
  const trust = { logKey: other.logKey.publicKey, verify };
  const problem = await receiptProblem(other.receipt, trust);
  return problem ?? twiceProblem(one, other);
}

async function forkProblem(
  { other: note, hashes }: Extract<OpenedEvidence, { verdict: "two checkpoints" }>,
  logKeys: readonly NoteKey[],
  checkpoint: OpenedCheckpoint,
  policy: WitnessPolicy,
  verify: VerifyEd25519,
): Promise<string | null> {
  const other = await openCheckpoint(note, logKeys, verify, policy);
  if (typeof other === "string") return other;
  const roots = rootsOfConsistency(other.size, checkpoint.size, hashes);
  if (roots === undefined || !equalBytes(roots.second, checkpoint.root)) {
    return "the hashes are not those of the checkpoint";
  }
  return equalBytes(roots.first, other.root) ? "the two checkpoints agree" : null;
}

function isAboutTimeOrChain(verdict: BrokenKind): verdict is "forked" | "misdated" {
  return verdict === "forked" || verdict === "misdated";
}

/** `forked` and `misdated` follow from the header alone. */
function headerProblem(
  verdict: "forked" | "misdated",
  { number, timeMs }: BlockHeader,
  header: Uint8Array,
  statement: ReceiptStatement,
): string | null {
  if (verdict === "misdated" && number === statement.block) {
    return statement.timeMs > timeMs ? null : "the receipt's time is not after its block's";
  }
  if (number !== statement.block - 1) return "it is not the block before the receipt's";
  if (verdict === "misdated") {
    return statement.timeMs < timeMs ? null : "the receipt's time is not before the last block's";
  }
  const isSame = equalBytes(sha256(header), statement.lastBlockHash);
  return isSame ? "the block is the one that the receipt names" : null;
}

function listProblem(
  verdict: "absent" | "different" | "elsewhere",
  header: BlockHeader,
  list: Uint8Array,
  statement: ReceiptStatement,
): string | null {
  const acks = provenAcks(list, header);
  if (typeof acks === "string") return acks;
  const here = acks.find(({ position }) => position === statement.position);
  const isExpected = header.number === statement.block;
  if (verdict === "elsewhere") {
    const moved = acks.find(({ leafHash }) => equalBytes(leafHash, statement.leafHash));
    if (moved === undefined) return "the block does not have the leaf";
    const isKept = isExpected && moved.position === statement.position;
    return isKept ? "the leaf is where the receipt says" : null;
  }
  if (!isExpected) return "it is not the block that the receipt expects";
  if (verdict === "absent") {
    return here === undefined ? null : "the block has an acknowledgement at the position";
  }
  if (here === undefined) return "the block has no acknowledgement at the position";
  return equalBytes(here.leafHash, statement.leafHash) ? "it is the same leaf" : null;
}
