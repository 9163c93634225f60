/**
 * Whether a preconfirm is what its venue sealed, checked by the client itself. In come the proof, its
 * block and the venue's markets, as the interface gives them; out come the reasons why not, all of
 * them. Nothing is asked of anyone and no answer is taken on trust: the leaf's fields must be those
 * of the acknowledgement, the leaf must lead to the block's root, and the root to the block's hash.
 *
 * What it cannot tell: that everybody else is shown the same block. Compare hashes for that.
 */

import { sha256 } from "@noble/hashes/sha2.js";
import type { Acknowledgement, Block, Market, PreconfirmProof } from "@perpgate/protocol";
import { type AcknowledgementLeaf, readLeaf } from "@perpgate/protocol/acknowledgement-leaf";
import { encodeBlockHeader } from "@perpgate/protocol/block-header";
import { bytesFromHex, hexFromBytes } from "@perpgate/protocol/hex";
import { pathLength, rootFromPath } from "@perpgate/protocol/merkle-path";
import { acknowledgementOfLeaf } from "@perpgate/protocol/sealed-acknowledgement";
import { microsPerTickLot, NotInUnits, stepOf } from "@perpgate/protocol/units";

export type PreconfirmProblemCode =
  /** The leaf is not the bytes of an acknowledgement, or has a word that this version lacks. */
  | "leaf_unreadable"
  /** The leaf names a market that is not in the list, or has figures that its units cannot say. */
  | "market_mismatch"
  /** A field of the proof's acknowledgement is not the leaf's. */
  | "ack_differs"
  /** A field of what was answered at first is not the leaf's. */
  | "answer_differs"
  /** The proof, the leaf and the block do not speak of one block, or the order is not of its range. */
  | "other_block"
  | "index_outside_block"
  | "path_too_short"
  | "path_too_long"
  | "path_unreadable"
  /** Leaf and path lead to another root than the block's. */
  | "root_differs"
  | "block_unreadable"
  /** The block's hash is not that of its other fields. */
  | "block_hash_differs";

export interface PreconfirmProblem {
  readonly code: PreconfirmProblemCode;
  readonly message: string;
  /** Such as `positionAfter.size`, where one field is at fault. */
  readonly field?: string;
}

export interface PreconfirmCheck {
  /** True if there is no problem at all. */
  readonly isProven: boolean;
  readonly problems: readonly PreconfirmProblem[];
  /** The fields as they are sealed, account number and session included; undefined if unreadable. */
  readonly leaf: AcknowledgementLeaf | undefined;
}

/** What a check is made of. */
export interface PreconfirmEvidence {
  /** As `session.preconfirm` gives it. */
  readonly proof: PreconfirmProof;
  /** The block that the proof names, as `client.block` gives it. */
  readonly block: Block;
  /** All of them, as `client.markets` gives them: a leaf names a market by its place in the list. */
  readonly markets: readonly Pick<Market, "symbol" | "tickSize" | "lotSize">[];
  /** The acknowledgement that was answered when the order was placed, to compare it as well. */
  readonly answered?: Acknowledgement;
}

/**
 * Checks a preconfirm without trusting who gave it, and says everything that is wrong with it.
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
  const leaf = bytes === undefined ? undefined : readLeaf(bytes);
  const problems: PreconfirmProblem[] = [
    ...(leaf === undefined
      ? [problem("leaf_unreadable", "the leaf is not that of an acknowledgement")]
      : [...fieldProblems(leaf, evidence), ...blockProblems(leaf, evidence)]),
    ...(bytes === undefined ? [] : pathProblems(bytes, proof, block)),
    ...hashProblems(block),
  ];
  return { isProven: problems.length === 0, problems, leaf };
}

function problem(code: PreconfirmProblemCode, message: string, field?: string): PreconfirmProblem {
  return field === undefined ? { code, message } : { code, message, field };
}

/** The acknowledgement is made anew from the leaf, as the venue made it, and then compared. */
function fieldProblems(
  leaf: AcknowledgementLeaf,
  { proof, markets, answered }: PreconfirmEvidence,
): PreconfirmProblem[] {
  const sealed = sealedAcknowledgement(leaf, markets);
  if (typeof sealed === "string") return [problem("market_mismatch", sealed)];
  return [
    ...differences("ack_differs", sealed, proof.ack),
    ...(answered === undefined ? [] : differences("answer_differs", sealed, answered)),
  ];
}

/** The acknowledgement, or why there is none. */
function sealedAcknowledgement(
  leaf: AcknowledgementLeaf,
  markets: PreconfirmEvidence["markets"],
): Acknowledgement | string {
  const market = markets[leaf.market];
  if (market === undefined) return `the leaf names market ${leaf.market} of ${markets.length}`;
  try {
    const [tick, lot] = [stepOf(market.tickSize), stepOf(market.lotSize)];
    const units = { tick, lot, microsPerTickLot: microsPerTickLot(tick, lot) };
    return acknowledgementOfLeaf(leaf, { symbol: market.symbol, ...units });
  } catch (error) {
    if (error instanceof NotInUnits) return `${market.symbol}: ${error.message}`;
    throw error;
  }
}

function differences(
  code: "ack_differs" | "answer_differs",
  { positionAfter, ...sealed }: Acknowledgement,
  { positionAfter: toldPosition, ...told }: Acknowledgement,
): PreconfirmProblem[] {
  return [
    ...unequal(code, "", sealed, told),
    ...unequal(code, "positionAfter.", positionAfter, toldPosition),
  ];
}

function unequal(
  code: PreconfirmProblemCode,
  prefix: string,
  sealed: object,
  told: object,
): PreconfirmProblem[] {
  return Object.entries(sealed).flatMap(([name, value]) => {
    const said: unknown = Reflect.get(told, name);
    if (said === value) return [];
    const field = prefix + name;
    return [problem(code, `${field} is ${String(value)} in the leaf, ${String(said)} here`, field)];
  });
}

function blockProblems(
  leaf: AcknowledgementLeaf,
  { proof, block }: PreconfirmEvidence,
): PreconfirmProblem[] {
  const problems: PreconfirmProblem[] = [];
  if (proof.block !== block.number || leaf.block !== block.number) {
    const named = `the proof is of block ${proof.block}, the leaf of ${leaf.block}`;
    problems.push(problem("other_block", `${named}, the block given is ${block.number}`));
  }
  const [first, last] = [Number(block.firstPosition), Number(block.lastPosition)];
  if (!(first <= leaf.orderId && leaf.orderId <= last)) {
    const range = `${block.firstPosition} to ${block.lastPosition}`;
    problems.push(problem("other_block", `order ${leaf.orderId} is not of positions ${range}`));
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
    return [problem(code, `the path has ${path.length} hashes, its place asks for ${length}`)];
  }
  const hashes = path.map(hashBytes);
  if (!hashes.every((hash) => hash !== undefined)) {
    return [problem("path_unreadable", "the path has something else than 32 bytes of hex")];
  }
  const root = rootFromPath(leaf, index, ackCount, hashes);
  if (root !== undefined && hexText(root) === block.acksRoot) return [];
  return [problem("root_differs", "leaf and path lead to another root than the block's")];
}

function hashProblems(block: Block): PreconfirmProblem[] {
  const header = headerBytes(block);
  if (header === undefined) {
    return [problem("block_unreadable", "the block has fields that no block has")];
  }
  const hash = hexText(sha256(header));
  if (hash === block.hash) return [];
  return [problem("block_hash_differs", `the block's fields have the hash ${hash}`)];
}

function headerBytes(block: Block): Uint8Array | undefined {
  const parentHash = hashBytes(block.parentHash);
  const acksRoot = hashBytes(block.acksRoot);
  const eventsHash = hashBytes(block.eventsHash);
  const [firstPosition, lastPosition] = [block.firstPosition, block.lastPosition].map(positionOf);
  const { number, ackCount, time: timeMs } = block;
  if (parentHash === undefined || acksRoot === undefined || eventsHash === undefined) return;
  if (firstPosition === undefined || lastPosition === undefined) return;
  if (![number, ackCount, timeMs].every(isCount)) return;
  return encodeBlockHeader({
    number,
    parentHash,
    firstPosition,
    lastPosition,
    ackCount,
    acksRoot,
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
