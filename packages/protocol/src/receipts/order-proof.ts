/**
 * The proof that an acknowledgement is sealed, as one text file: a C2SP tlog-proof of the block's header,
 * whose `extra` holds what leads from the acknowledgement to the header. Checked without any network, with
 * the log's key alone; cosignatures of witnesses with theirs.
 *
 *   c2sp.org/tlog-proof@v1
 *   extra <base64 of JSON: logKey, leaf, index, path, header, market>
 *   index <block number − 1>
 *   <base64 hash>…
 *
 *   <checkpoint>
 */

import { type AcknowledgementLeaf, readLeaf } from "../acknowledgement-leaf.js";
import type { BlockHeader } from "../block-header.js";
import { bytesFromHex, hexFromBytes } from "../hex.js";
import { rootFromLeafHash, treeLeafHash } from "../merkle-path.js";
import { provenHeader } from "./block-proof.js";
import { base64, bytesFromBase64, equalBytes, isCount } from "./bytes.js";
import { type OpenedCheckpoint, openCheckpoint } from "./checkpoint.js";
import { type WitnessOptions, witnessPolicy } from "./cosignatures.js";
import { type NoteKey, parseLogKey, type VerifyEd25519 } from "./signed-note.js";
import { isTexts, logKeyChain } from "./successors.js";

const FIRST_LINE = "c2sp.org/tlog-proof@v1";
const ORDER_PROOF_FORMAT = "perpgate-order-proof/1";

/** Units of the acknowledgement's market, to show its numbers; no proof depends on them. */
export interface ProofMarket {
  readonly symbol: string;
  readonly tickSize: number;
  readonly lotSize: number;
}

export interface OrderProof {
  /** The log's verifier key as the venue shows it: compare it with the one that you pinned. */
  readonly logKey: string;
  /** Notes that lead from the log's earlier keys to this one. */
  readonly successors: readonly string[];
  readonly leaf: Uint8Array;
  /** The leaf's place in its block. */
  readonly index: number;
  readonly path: readonly Uint8Array[];
  readonly header: Uint8Array;
  readonly market: ProofMarket;
  /** The header's index in the log: one less than the block's number. */
  readonly entry: number;
  /** From the header to the checkpoint. */
  readonly blockPath: readonly Uint8Array[];
  /** The signed note. */
  readonly checkpoint: string;
}

export function encodeOrderProof(proof: OrderProof): string {
  const extra = JSON.stringify({
    format: ORDER_PROOF_FORMAT,
    logKey: proof.logKey,
    ...(proof.successors.length === 0 ? {} : { successors: proof.successors }),
    leaf: hexFromBytes(proof.leaf),
    index: proof.index,
    path: proof.path.map(hexFromBytes),
    header: hexFromBytes(proof.header),
    market: proof.market,
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

/** The parts of a proof file; undefined if the text is none. */
export function parseOrderProof(text: string): OrderProof | undefined {
  const split = text.indexOf("\n\n");
  const [first, extraLine = "", indexLine = "", ...hashes] = text.slice(0, split).split("\n");
  const entry = /^index (0|[1-9][0-9]{0,14})$/.exec(indexLine)?.[1];
  if (split < 0 || first !== FIRST_LINE || entry === undefined) return;
  const bytes = bytesFromBase64(/^extra (.+)$/.exec(extraLine)?.[1] ?? "");
  const blockPath = hashes.map(bytesFromBase64);
  if (bytes === undefined || !areHashes(blockPath)) return;
  const extra = parseExtra(new TextDecoder().decode(bytes));
  if (extra === undefined) return;
  return { ...extra, entry: Number(entry), blockPath, checkpoint: text.slice(split + 2) };
}

function parseExtra(
  text: string,
): Omit<OrderProof, "entry" | "blockPath" | "checkpoint"> | undefined {
  const fields = new Map<string, unknown>(Object.entries(jsonObject(text)));
  const [logKey, leaf, index, path, header] = ["logKey", "leaf", "index", "path", "header"].map(
    (name) => fields.get(name),
  );
  if (fields.get("format") !== ORDER_PROOF_FORMAT || typeof logKey !== "string") return;
  if (typeof leaf !== "string" || typeof header !== "string" || !Array.isArray(path)) return;
  const hashes = path.map((each) => (typeof each === "string" ? bytesFromHex(each) : undefined));
  const [leafBytes, headerBytes] = [bytesFromHex(leaf), bytesFromHex(header)];
  const market = proofMarketOf(fields.get("market"));
  if (leafBytes === undefined || headerBytes === undefined || !areHashes(hashes)) return;
  if (typeof index !== "number" || !isCount(index) || market === undefined) return;
  const successors = fields.get("successors") ?? [];
  if (!isTexts(successors)) return;
  return { logKey, successors, leaf: leafBytes, index, path: hashes, header: headerBytes, market };
}

function areHashes(hashes: readonly (Uint8Array | undefined)[]): hashes is readonly Uint8Array[] {
  return hashes.every((hash) => hash?.length === 32);
}

/** The units that a file states; undefined if they are none. */
export function proofMarketOf(value: unknown): ProofMarket | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { symbol, tickSize, lotSize }: Partial<Record<string, unknown>> = { ...value };
  if (typeof symbol !== "string" || typeof tickSize !== "number") return undefined;
  return typeof lotSize === "number" ? { symbol, tickSize, lotSize } : undefined;
}

function jsonObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

export interface CheckedProof {
  readonly leaf: AcknowledgementLeaf;
  /** As in a receipt. */
  readonly leafHash: Uint8Array;
  readonly block: BlockHeader;
  readonly checkpoint: OpenedCheckpoint;
  readonly logKey: NoteKey;
  /** Names of the witnesses whose cosignatures hold under the keys that were given. */
  readonly cosigners: readonly string[];
  /** As the file states it; not sealed. */
  readonly market: ProofMarket;
}

/** Verifier keys that the reader knows from elsewhere. */
export interface ProofKeys extends WitnessOptions {
  /** It, or a successor that it announced, must have signed the checkpoint. Without it the key in the file is used. */
  readonly logKey?: string | undefined;
}

/** What the proof proves, or why it proves nothing. */
export async function checkOrderProof(
  text: string,
  verify: VerifyEd25519,
  { logKey, ...witnesses }: ProofKeys = {},
): Promise<CheckedProof | string> {
  const proof = parseOrderProof(text);
  if (proof === undefined) return "the file is no proof of an order";
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
  const leaf = readLeaf(proof.leaf);
  if (leaf === undefined) return "the acknowledgement cannot be read";
  const { ackNonce } = leaf;
  const isWithin = block.firstPosition <= ackNonce && ackNonce <= block.lastPosition;
  if (leaf.block !== block.number || !isWithin) {
    return `the acknowledgement names block ${leaf.block} and position ${ackNonce}`;
  }
  const { cosigners, logKey: signer } = checkpoint;
  return { leaf, leafHash, block, checkpoint, logKey: signer, cosigners, market: proof.market };
}
