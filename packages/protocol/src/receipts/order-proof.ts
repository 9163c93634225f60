/**
 * The proof that an order's acknowledgement is sealed (leaf-proof.ts). Its `extra` has the `market`, too.
 */

import { type AcknowledgementLeaf, readLeaf } from "../blocks/acknowledgement-leaf.js";
import {
  encodeLeafProof,
  type LeafProof,
  type ProofKeys,
  type ProvenLeaf,
  parseLeafProof,
  provenLeaf,
} from "./leaf-proof.js";
import type { NoteKey, VerifyEd25519 } from "./signed-note.js";

const ORDER_PROOF_FORMAT = "perpgate-order-proof/1";

/** Units of the acknowledgement's market, to show its numbers; no proof depends on them. */
export interface ProofMarket {
  readonly symbol: string;
  readonly tickSize: number;
  readonly lotSize: number;
}

export interface OrderProof extends LeafProof {
  readonly market: ProofMarket;
}

export function encodeOrderProof(proof: OrderProof): string {
  return encodeLeafProof(proof, ORDER_PROOF_FORMAT, { market: proof.market });
}

/** The parts of a proof file; undefined if the text is none. */
export function parseOrderProof(text: string): OrderProof | undefined {
  const parsed = parseLeafProof(text, ORDER_PROOF_FORMAT);
  if (parsed === undefined) return undefined;
  const { fields, ...proof } = parsed;
  const market = proofMarketOf(fields.get("market"));
  return market === undefined ? undefined : { ...proof, market };
}

/** The units that a file states; undefined if they are none. */
export function proofMarketOf(value: unknown): ProofMarket | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { symbol, tickSize, lotSize }: Partial<Record<string, unknown>> = { ...value };
  if (typeof symbol !== "string" || typeof tickSize !== "number") return undefined;
  return typeof lotSize === "number" ? { symbol, tickSize, lotSize } : undefined;
}

export interface CheckedProof extends ProvenLeaf {
  readonly leaf: AcknowledgementLeaf;
  readonly logKey: NoteKey;
  /** Names of the witnesses whose cosignatures hold under the keys that were given. */
  readonly cosigners: readonly string[];
  /** As the file states it; not sealed. */
  readonly market: ProofMarket;
}

/** What the proof proves, or why it proves nothing. */
export async function verifyOrderProof(
  text: string,
  verify: VerifyEd25519,
  keys: ProofKeys = {},
): Promise<CheckedProof | string> {
  const proof = parseOrderProof(text);
  if (proof === undefined) return "the file is no proof of an order";
  const proven = await provenLeaf(proof, verify, keys);
  if (typeof proven === "string") return proven;
  const leaf = readLeaf(proof.leaf);
  if (leaf === undefined) return "the acknowledgement cannot be read";
  const { ackNonce } = leaf;
  const { block, checkpoint } = proven;
  const isWithin = block.firstPosition <= ackNonce && ackNonce <= block.lastPosition;
  if (leaf.block !== block.number || !isWithin) {
    return `the acknowledgement names block ${leaf.block} and position ${ackNonce}`;
  }
  const { cosigners, logKey } = checkpoint;
  return { ...proven, leaf, logKey, cosigners, market: proof.market };
}
