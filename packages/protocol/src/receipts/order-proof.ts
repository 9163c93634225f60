/**
 * The proof that the acknowledgement of an order or a cancel is sealed (leaf-proof.ts). Its `extra` has the
 * `market`, too.
 */

import { type AnswerLeaf, readAnswerLeaf } from "../blocks/answer-leaf.js";
import {
  checkLeaf,
  encodeLeafProof,
  type LeafProof,
  type ProofKeys,
  type ProvenLeaf,
  parseLeafProof,
} from "./leaf-proof.js";
import type { NoteKey, VerifyEd25519 } from "./signed-note.js";

const ORDER_PROOF_FORMAT = "perpgate-order-proof/1";

const ORDER = {
  name: "an order",
  read: readAnswerLeaf,
  seqOf: ({ ackNonce }: AnswerLeaf) => ackNonce,
};

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
  readonly leaf: AnswerLeaf;
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
  if (proof === undefined) return "the text is no proof of an order";
  const checked = await checkLeaf(ORDER, proof, verify, keys);
  if (typeof checked === "string") return checked;
  const { cosigners, logKey } = checked.checkpoint;
  return { ...checked, logKey, cosigners, market: proof.market };
}
