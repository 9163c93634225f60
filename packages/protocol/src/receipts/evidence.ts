/**
 * Evidence of a broken promise: a receipt and what the venue itself signed against it. The file proves the
 * verdict to anyone who has the log's key; docs/receipts.md has the rules that another program needs.
 *
 *   absent     a block that a checkpoint covers, whose complete list lacks the receipt's position
 *   elsewhere  the same leaf under another position or block
 *   different  another leaf at the position
 *   forked     a block before the receipt's has another hash under a checkpoint, or two checkpoints of one
 *              log that no single log can have
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesFromHex, hexFromBytes } from "../hex.js";
import { provenAcks, provenHeader } from "./block-proof.js";
import { base64, bytesFromBase64, equalBytes } from "./bytes.js";
import { openCheckpoint } from "./checkpoint.js";
import { receiptProblem } from "./receipt-check.js";
import { openReceiptFile, type ReceiptFile } from "./receipt-file.js";
import type { VerifyEd25519 } from "./signed-note.js";
import { rootsOfConsistency } from "./tree.js";

export const EVIDENCE_FORMAT = "perpgate-evidence/1";
export type BrokenKind = "absent" | "elsewhere" | "different" | "forked";

/** A block under the checkpoint, and the list of its acknowledgements where the verdict needs it. */
export interface ProvenBlock {
  /** Hex. */
  readonly header: string;
  /** Base64, from the header up. */
  readonly path: readonly string[];
  /** Base64. */
  readonly list?: string;
}

export interface Evidence {
  readonly format: typeof EVIDENCE_FORMAT;
  readonly verdict: BrokenKind;
  readonly receipt: ReceiptFile;
  /** The signed note that the blocks are under. */
  readonly checkpoint: string;
  /** `absent`: the expected block. `elsewhere`: the block with the leaf. `different`: with another one. */
  readonly block?: ProvenBlock;
  /** `forked`: a checkpoint of the same log, and the hashes that relate the two. */
  readonly other?: { readonly checkpoint: string; readonly hashes: readonly string[] };
}

export function provenBlockText(
  header: Uint8Array,
  path: readonly Uint8Array[],
  list?: Uint8Array,
): ProvenBlock {
  const block = { header: hexFromBytes(header), path: path.map(base64) };
  return list === undefined ? block : { ...block, list: base64(list) };
}

/** Null if the evidence proves its verdict; otherwise why it does not. */
export async function evidenceProblem(
  evidence: Evidence,
  verify: VerifyEd25519,
): Promise<string | null> {
  if (evidence.format !== EVIDENCE_FORMAT) return "it is no evidence of a known format";
  const opened = openReceiptFile(evidence.receipt);
  if (typeof opened === "string") return opened;
  const { receipt, logKey } = opened;
  const problem = await receiptProblem(receipt, { logKey: logKey.publicKey, verify });
  if (problem !== null) return problem;
  const checkpoint = await openCheckpoint(evidence.checkpoint, logKey, verify);
  if (typeof checkpoint === "string") return checkpoint;
  if (evidence.other !== undefined) {
    if (evidence.verdict !== "forked") return "two checkpoints prove a fork alone";
    const other = await openCheckpoint(evidence.other.checkpoint, logKey, verify);
    if (typeof other === "string") return other;
    const hashes = evidence.other.hashes.map(bytesFromBase64);
    if (!areBytes(hashes)) return "a hash cannot be read";
    const roots = rootsOfConsistency(other.size, checkpoint.size, hashes);
    if (roots === undefined || !equalBytes(roots.second, checkpoint.root)) {
      return "the hashes are not those of the checkpoint";
    }
    return equalBytes(roots.first, other.root) ? "the two checkpoints agree" : null;
  }
  const block = blockOf(evidence.block);
  if (block === undefined) return "its block cannot be read";
  const header = provenHeader(block, checkpoint);
  if (typeof header === "string") return header;
  const { statement } = receipt;
  if (evidence.verdict === "forked") {
    if (header.number !== statement.block - 1) return "it is not the block before the receipt's";
    const isSame = equalBytes(sha256(block.header), statement.lastBlockHash);
    return isSame ? "the block is the one that the receipt names" : null;
  }
  if (block.list === undefined) return "the list of acknowledgements is missing";
  const acks = provenAcks(block.list, header);
  if (typeof acks === "string") return acks;
  const here = acks.find(({ position }) => position === statement.position);
  const isExpected = header.number === statement.block;
  switch (evidence.verdict) {
    case "absent":
      if (!isExpected) return "it is not the block that the receipt expects";
      return here === undefined ? null : "the block has an acknowledgement at the position";
    case "different":
      if (!isExpected) return "it is not the block that the receipt expects";
      if (here === undefined) return "the block has no acknowledgement at the position";
      return equalBytes(here.leafHash, statement.leafHash) ? "it is the same leaf" : null;
    case "elsewhere": {
      const moved = acks.find(({ leafHash }) => equalBytes(leafHash, statement.leafHash));
      if (moved === undefined) return "the block does not have the leaf";
      const isKept = isExpected && moved.position === statement.position;
      return isKept ? "the leaf is where the receipt says" : null;
    }
  }
}

function blockOf(block: ProvenBlock | undefined) {
  const header = bytesFromHex(block?.header ?? "");
  const path = block?.path.map(bytesFromBase64);
  if (block === undefined || header === undefined || path === undefined) return undefined;
  if (!areBytes(path)) return undefined;
  const list = block.list === undefined ? undefined : bytesFromBase64(block.list);
  if (block.list !== undefined && list === undefined) return undefined;
  return { header, path, list };
}

function areBytes(values: readonly (Uint8Array | undefined)[]): values is readonly Uint8Array[] {
  return values.every((value) => value !== undefined);
}
