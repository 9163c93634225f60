/** A block under a checkpoint: its header, its place among the entries of the log, and the path. */

import { type BlockHeader, readBlockHeader } from "../blocks/block-header.js";
import { rootFromLeafHash, treeLeafHash } from "../blocks/merkle-path.js";
import { ackListHash, type ListedAck, parseAckList } from "./ack-list.js";
import { equalBytes } from "./bytes.js";
import type { Checkpoint } from "./checkpoint.js";
import { rootOfLeafHashes } from "./tree.js";

export interface BlockProof {
  /** 176 bytes; entry `number` − 1 of the log. */
  readonly header: Uint8Array;
  readonly path: readonly Uint8Array[];
}

/** The header that a checkpoint covers, or why it does not. */
export function provenHeader(
  { header, path }: BlockProof,
  { size, root }: Pick<Checkpoint, "size" | "root">,
): BlockHeader | string {
  const block = readBlockHeader(header);
  if (block === undefined) return "the block's header cannot be read";
  const found = rootFromLeafHash(treeLeafHash(header), block.number - 1, size, path);
  if (found === undefined) return `block ${block.number} has no such path in a log of ${size}`;
  return equalBytes(found, root) ? block : `block ${block.number} is not under the checkpoint`;
}

/** The acknowledgements of a block from its list, or why the list is not the block's. */
export function provenAcks(list: Uint8Array, header: BlockHeader): ListedAck[] | string {
  if (!equalBytes(ackListHash(list), header.ackListHash)) {
    return `the list is not that of block ${header.number}`;
  }
  const acks = parseAckList(list);
  const hashes = acks?.map(({ leafHash }) => leafHash) ?? [];
  const isWhole = acks?.length === header.ackCount;
  if (acks === undefined || !isWhole || !equalBytes(rootOfLeafHashes(hashes), header.acksRoot)) {
    return `block ${header.number} contradicts its own list of acknowledgements`;
  }
  return acks;
}
