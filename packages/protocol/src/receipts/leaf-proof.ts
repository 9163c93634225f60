/**
 * The proof that a leaf is sealed, as one text file: a C2SP tlog-proof of the block's header, whose `extra`
 * holds what leads from the leaf to the header. Checked without any network, with the log's key alone;
 * cosignatures of witnesses with theirs.
 *
 *   c2sp.org/tlog-proof@v1
 *   extra <base64 of JSON: format, logKey, leaf, index, path, header, …>
 *   index <block number − 1>
 *   <base64 hash>…
 *
 *   <checkpoint>
 */

import type { BlockHeader } from "../blocks/block-header.js";
import { rootFromLeafHash, treeLeafHash } from "../blocks/merkle-path.js";
import { isCount } from "../numbers/integers.js";
import { bytesFromHex, hexFromBytes } from "../text/hex.js";
import { provenHeader } from "./block-proof.js";
import { base64, bytesFromBase64, equalBytes } from "./bytes.js";
import { type OpenedCheckpoint, openCheckpoint } from "./checkpoint.js";
import { type WitnessOptions, witnessPolicy } from "./cosignatures.js";
import { parseLogKey, type VerifyEd25519 } from "./signed-note.js";
import { isTexts, logKeyChain } from "./successors.js";

const FIRST_LINE = "c2sp.org/tlog-proof@v1";

export interface LeafProof {
  /** The log's verifier key as the venue shows it: compare it with the one that you pinned. */
  readonly logKey: string;
  /** Notes that lead from the log's earlier keys to this one. */
  readonly successors: readonly string[];
  readonly leaf: Uint8Array;
  /** The leaf's place in its block. */
  readonly index: number;
  readonly path: readonly Uint8Array[];
  readonly header: Uint8Array;
  /** The header's index in the log: one less than the block's number. */
  readonly entry: number;
  /** From the header to the checkpoint. */
  readonly blockPath: readonly Uint8Array[];
  /** The signed note. */
  readonly checkpoint: string;
}

/** `more`: fields of this format, after those that all have. */
export function encodeLeafProof(proof: LeafProof, format: string, more: object = {}): string {
  const extra = JSON.stringify({
    format,
    logKey: proof.logKey,
    ...(proof.successors.length === 0 ? {} : { successors: proof.successors }),
    leaf: hexFromBytes(proof.leaf),
    index: proof.index,
    path: proof.path.map(hexFromBytes),
    header: hexFromBytes(proof.header),
    ...more,
  });
  return [
    FIRST_LINE,
    `extra ${base64(new TextEncoder().encode(extra))}`,
    `index ${proof.entry}`,
    ...proof.blockPath.map(base64),
    "",
    proof.checkpoint,
  ].join("\n");
}

/** The parts of a proof file, and its fields by name; undefined if the text is none of that format. */
export function parseLeafProof(
  text: string,
  format: string,
): (LeafProof & { readonly fields: ReadonlyMap<string, unknown> }) | undefined {
  const split = text.indexOf("\n\n");
  const [first, extraLine = "", indexLine = "", ...hashes] = text.slice(0, split).split("\n");
  const entry = /^index (0|[1-9][0-9]{0,14})$/.exec(indexLine)?.[1];
  if (split < 0 || first !== FIRST_LINE || entry === undefined) return;
  const bytes = bytesFromBase64(/^extra (.+)$/.exec(extraLine)?.[1] ?? "");
  const blockPath = hashes.map(bytesFromBase64);
  if (bytes === undefined || !areHashes(blockPath)) return;
  const fields = new Map<string, unknown>(
    Object.entries(jsonObject(new TextDecoder().decode(bytes))),
  );
  if (fields.get("format") !== format) return;
  const inner = parseInner(fields);
  if (inner === undefined) return;
  const checkpoint = text.slice(split + 2);
  return { ...inner, fields, entry: Number(entry), blockPath, checkpoint };
}

function parseInner(
  fields: ReadonlyMap<string, unknown>,
): Omit<LeafProof, "entry" | "blockPath" | "checkpoint"> | undefined {
  const [logKey, leaf, index, path, header] = ["logKey", "leaf", "index", "path", "header"].map(
    (name) => fields.get(name),
  );
  if (typeof logKey !== "string") return;
  if (typeof leaf !== "string" || typeof header !== "string" || !Array.isArray(path)) return;
  const hashes = path.map((each) => (typeof each === "string" ? bytesFromHex(each) : undefined));
  const [leafBytes, headerBytes] = [bytesFromHex(leaf), bytesFromHex(header)];
  if (leafBytes === undefined || headerBytes === undefined || !areHashes(hashes)) return;
  if (typeof index !== "number" || !isCount(index)) return;
  const successors = fields.get("successors") ?? [];
  if (!isTexts(successors)) return;
  return { logKey, successors, leaf: leafBytes, index, path: hashes, header: headerBytes };
}

function areHashes(hashes: readonly (Uint8Array | undefined)[]): hashes is readonly Uint8Array[] {
  return hashes.every((hash) => hash?.length === 32);
}

function jsonObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Verifier keys that the reader knows from elsewhere. */
export interface ProofKeys extends WitnessOptions {
  /** It, or a successor that it announced, must have signed the checkpoint. Without it the key in the file is used. */
  readonly logKey?: string | undefined;
}

export interface ProvenLeaf {
  /** As in a receipt. */
  readonly leafHash: Uint8Array;
  readonly block: BlockHeader;
  readonly checkpoint: OpenedCheckpoint;
}

/** What is sealed: an order, a withdrawal, reserves. */
interface LeafKind<L> {
  /** After "proof of". */
  readonly name: string;
  readonly read: (bytes: Uint8Array) => L | undefined;
  /** The seq of the command that made the leaf. */
  readonly seqOf: (leaf: L) => number;
}

/** The leaf and where it is sealed, or why the proof proves nothing. */
export async function checkLeaf<L extends { readonly block: number }>(
  { name, read, seqOf }: LeafKind<L>,
  proof: LeafProof | undefined,
  verify: VerifyEd25519,
  keys: ProofKeys,
): Promise<(ProvenLeaf & { readonly leaf: L }) | string> {
  if (proof === undefined) return `the text is no proof of ${name}`;
  const proven = await provenLeaf(proof, verify, keys);
  if (typeof proven === "string") return proven;
  const leaf = read(proof.leaf);
  if (leaf === undefined) return `the leaf is none of ${name}`;
  const { number, firstPosition, lastPosition } = proven.block;
  const seq = seqOf(leaf);
  if (leaf.block !== number || seq < firstPosition || seq > lastPosition) {
    return `the leaf names block ${leaf.block} and position ${seq}`;
  }
  return { ...proven, leaf };
}

async function provenLeaf(
  proof: LeafProof,
  verify: VerifyEd25519,
  { logKey, ...witnesses }: ProofKeys,
): Promise<ProvenLeaf | string> {
  const key = parseLogKey(logKey ?? proof.logKey);
  if (key === undefined) return "the log key cannot be read";
  const keys = await logKeyChain(key, proof.successors, verify);
  if (typeof keys === "string") return keys;
  const policy = witnessPolicy(witnesses);
  if (typeof policy === "string") return policy;
  const checkpoint = await openCheckpoint(proof.checkpoint, keys, verify, policy);
  if (typeof checkpoint === "string") return checkpoint;
  const block = provenHeader({ header: proof.header, path: proof.blockPath }, checkpoint);
  if (typeof block === "string") return block;
  if (block.number - 1 !== proof.entry) {
    return `the header of block ${block.number} is not at index ${proof.entry}`;
  }
  const leafHash = treeLeafHash(proof.leaf);
  const root = rootFromLeafHash(leafHash, proof.index, block.ackCount, proof.path);
  if (root === undefined || !equalBytes(root, block.acksRoot)) {
    return `the acknowledgement is not in block ${block.number}`;
  }
  return { leafHash, block, checkpoint };
}
