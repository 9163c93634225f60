/** Proofs that lead from an acknowledgement or a block to the published checkpoint. */
import { encodeOrderProof } from "@perpgate/protocol/receipts";
import { encodeHeader } from "../blocks/block-header.js";
import { inclusionPath } from "../blocks/merkle.js";
import { ACKNOWLEDGED } from "../event-fields.js";
import { wordsOfBytes } from "../history/rows.js";
import type { BlockTree } from "../tlog/block-tree.js";
import type { Published } from "../tlog/transparency-log.js";
import { unitsOf, type VenueSource } from "../views/venue-source.js";

/** The path of a block under the checkpoint; undefined while it covers fewer blocks. */
export function blockPath(
  tree: BlockTree,
  published: Published | undefined,
  number: number,
): Buffer[] | undefined {
  if (published === undefined || published.size < number) return undefined;
  return tree.inclusion(number - 1, published.size);
}

/** The proof file of the acknowledgement at a seq; undefined while no checkpoint covers its block. */
export function orderProofText(
  source: VenueSource,
  tree: BlockTree,
  published: Published | undefined,
  logKey: string,
  seq: number,
): string | undefined {
  const { history } = source;
  const ack = history.ack(seq);
  if (ack === undefined) return undefined;
  const words = wordsOfBytes(ack.leaf);
  const block = history.block(words[ACKNOWLEDGED.block]!);
  const path = block === undefined ? undefined : blockPath(tree, published, block.number);
  if (block === undefined || path === undefined || published === undefined) return undefined;
  const acks = history.acksBetween(block.firstPosition, block.lastPosition);
  const index = acks.findIndex((other) => other.seq === seq);
  const leaves = acks.map(({ leaf }) => leaf);
  const { symbol, tickSize, lotSize } = unitsOf(source, words[ACKNOWLEDGED.market]!);
  return encodeOrderProof(
    {
      logKey,
      leaf: ack.leaf,
      index,
      path: inclusionPath(leaves, index),
      header: encodeHeader(block),
      market: { symbol, tickSize, lotSize },
      blockPath: path,
      checkpoint: published.note,
    },
    block.number,
  );
}
