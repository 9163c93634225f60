/**
 * Verifies a preconfirm on the client: from the proof, its block and the venue's markets to a list of
 * all problems. Sends no request and trusts no response: the leaf's fields must equal those of the
 * acknowledgement, leaf and path must give the block's root, and the block's fields its hash.
 *
 * It cannot show that other clients get the same block; compare hashes for that.
 */

import { sha256 } from "@noble/hashes/sha2.js";
import type {
  Acknowledgement,
  AnswerLeaf,
  Block,
  CanceledOrder,
  Market,
  PreconfirmProof,
} from "@perpgate/protocol";
import {
  bytesFromHex,
  encodeBlockHeader,
  hexFromBytes,
  pathLength,
  readAnswerLeaf,
  rootFromPath,
  type SealedAnswer,
} from "@perpgate/protocol/core";
import { ackDifferences, sealedAcknowledgement } from "@perpgate/protocol/receipts";

export type PreconfirmProblemCode =
  /** The leaf is not an acknowledgement, or has an enumeration value that this version lacks. */
  | "leaf_unreadable"
  /** The leaf names a market that is not in the list, or its numbers do not fit the market's units. */
  | "market_mismatch"
  /** A field of the proof's acknowledgement differs from the leaf. */
  | "ack_differs"
  /** A field of the original response differs from the leaf. */
  | "answer_differs"
  /** Proof, leaf and block name different blocks, or the order is outside the block's range. */
  | "other_block"
  | "index_outside_block"
  | "path_too_short"
  | "path_too_long"
  | "path_unreadable"
  /** Leaf and path give another root than the block's. */
  | "root_differs"
  | "block_unreadable"
  /** The block's hash is not the hash of its other fields. */
  | "block_hash_differs";

export interface PreconfirmProblem {
  readonly code: PreconfirmProblemCode;
  readonly message: string;
  /** The field that differs, such as `positionAfter.size`. */
  readonly field?: string;
}

export interface PreconfirmCheck {
  /** True if there is no problem. */
  readonly isProven: boolean;
  readonly problems: readonly PreconfirmProblem[];
  /** The sealed fields, with account number and session; undefined if unreadable. */
  readonly leaf: AnswerLeaf | undefined;
}

export interface PreconfirmEvidence {
  /** From `session.preconfirm`. */
  readonly proof: PreconfirmProof;
  /** The block that the proof names, from `client.block`. */
  readonly block: Block;
  /** All markets, from `client.markets`: a leaf names a market by its index in that list. */
  readonly markets: readonly Pick<Market, "symbol" | "tickSize" | "lotSize">[];
  /** The acknowledgement of the original response, or what it said of a cancel, to compare it too. */
  readonly answered?: Acknowledgement | CanceledOrder;
}

/**
 * Verifies a preconfirm without trusting its sender, and lists every problem.
 *
 * @example
 * const answered = await session.placeOrder({ symbol: "BTCUSD", side: "long", type: "market", margin: 100, leverage: 5 });
 * // … once its block is sealed, within 200 ms:
 * const proof = await session.preconfirm(answered.ackNonce);
 * const [block, markets] = await Promise.all([client.block(proof.block), client.markets()]);
 * const { isProven, problems } = checkPreconfirm({ proof, block, markets, answered });
 * console.log(isProven ? `sealed in ${block.hash}` : problems);
 */
export function checkPreconfirm(evidence: PreconfirmEvidence): PreconfirmCheck {
  const { proof, block } = evidence;
  const bytes = /^0x/.test(proof.leaf) ? bytesFromHex(proof.leaf) : undefined;
  const leaf = bytes === undefined ? undefined : readAnswerLeaf(bytes);
  const problems: PreconfirmProblem[] = [
    ...(leaf === undefined
      ? [problem("leaf_unreadable", "the leaf is not an acknowledgement")]
      : [...fieldProblems(leaf, evidence), ...blockProblems(leaf, evidence)]),
    ...(bytes === undefined ? [] : pathProblems(bytes, proof, block)),
    ...hashProblems(block),
  ];
  return { isProven: problems.length === 0, problems, leaf };
}

function problem(code: PreconfirmProblemCode, message: string): PreconfirmProblem {
  return { code, message };
}

/** Rebuilds the acknowledgement from the leaf, as the venue does, and compares it. */
function fieldProblems(
  leaf: AnswerLeaf,
  { proof, markets, answered }: PreconfirmEvidence,
): PreconfirmProblem[] {
  const market = markets[leaf.market];
  const sealed =
    market === undefined
      ? `the leaf names market ${leaf.market} of ${markets.length}`
      : sealedAcknowledgement(leaf, market);
  if (typeof sealed === "string") return [problem("market_mismatch", sealed)];
  return [
    ...differences("ack_differs", sealed, ("kind" in leaf ? proof.canceled : proof.ack) ?? {}),
    ...(answered === undefined ? [] : differences("answer_differs", sealed, answered)),
  ];
}

function differences(
  code: "ack_differs" | "answer_differs",
  sealed: SealedAnswer,
  given: object,
): PreconfirmProblem[] {
  return ackDifferences(sealed, given).map((difference) => ({ code, ...difference }));
}

function blockProblems(
  leaf: AnswerLeaf,
  { proof, block }: PreconfirmEvidence,
): PreconfirmProblem[] {
  const problems: PreconfirmProblem[] = [];
  if (proof.block !== block.number || leaf.block !== block.number) {
    const named = `the proof is of block ${proof.block}, the leaf of ${leaf.block}`;
    problems.push(problem("other_block", `${named}, the block given is ${block.number}`));
  }
  const [first, last] = [Number(block.firstPosition), Number(block.lastPosition)];
  if (!(first <= leaf.ackNonce && leaf.ackNonce <= last)) {
    const range = `${block.firstPosition} to ${block.lastPosition}`;
    problems.push(
      problem("other_block", `acknowledgement ${leaf.ackNonce} is not of positions ${range}`),
    );
  }
  return problems;
}

function pathProblems(leaf: Uint8Array, proof: PreconfirmProof, block: Block): PreconfirmProblem[] {
  const { index, path } = proof;
  const { ackCount } = block;
  if (!isCount(index) || !isCount(ackCount) || index >= ackCount) {
    return [problem("index_outside_block", `there is no leaf ${index} among ${ackCount}`)];
  }
  const length = pathLength(index, ackCount);
  if (path.length !== length) {
    const code = path.length < length ? "path_too_short" : "path_too_long";
    return [problem(code, `the path has ${path.length} hashes, its index needs ${length}`)];
  }
  const hashes = path.map(hashBytes);
  if (!hashes.every((hash) => hash !== undefined)) {
    return [problem("path_unreadable", "the path has an entry that is not 32 bytes of hex")];
  }
  const root = rootFromPath(leaf, index, ackCount, hashes);
  if (root !== undefined && hexText(root) === block.acksRoot) return [];
  return [problem("root_differs", "leaf and path give another root than the block's")];
}

function hashProblems(block: Block): PreconfirmProblem[] {
  const header = headerBytes(block);
  if (header === undefined) {
    return [problem("block_unreadable", "the block has an invalid field")];
  }
  const hash = hexText(sha256(header));
  if (hash === block.hash) return [];
  return [problem("block_hash_differs", `the hash of the block's fields is ${hash}`)];
}

function headerBytes(block: Block): Uint8Array | undefined {
  const parentHash = hashBytes(block.parentHash);
  const acksRoot = hashBytes(block.acksRoot);
  const ackListHash = hashBytes(block.ackListHash);
  const eventsHash = hashBytes(block.eventsHash);
  const [firstPosition, lastPosition] = [block.firstPosition, block.lastPosition].map(positionOf);
  const { number, ackCount, time: timeMs } = block;
  if (parentHash === undefined || acksRoot === undefined) return;
  if (ackListHash === undefined || eventsHash === undefined) return;
  if (firstPosition === undefined || lastPosition === undefined) return;
  if (![number, ackCount, timeMs].every(isCount)) return;
  return encodeBlockHeader({
    number,
    parentHash,
    firstPosition,
    lastPosition,
    ackCount,
    acksRoot,
    ackListHash,
    eventsHash,
    timeMs,
  });
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function positionOf(text: string): number | undefined {
  const value = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return isCount(value) ? value : undefined;
}

function hashBytes(text: string): Uint8Array | undefined {
  return /^0x[0-9a-f]{64}$/.test(text) ? bytesFromHex(text) : undefined;
}

function hexText(bytes: Uint8Array): string {
  return `0x${hexFromBytes(bytes)}`;
}
