/** Proofs that lead from an acknowledgement or a block to the published checkpoint. */
import { encodeOrderProof, type LeafProof, type OrderProof } from "@perpgate/protocol/receipts";
import { encodeHeader } from "../blocks/block-header.js";
import { answerFields } from "../event-fields.js";
import type { BlockTree } from "../tlog/block-tree.js";
import type { Published } from "../tlog/transparency-log.js";
import type { SealedAck } from "../views/chain-view.js";
import { unitsOf, type VenueSource } from "../views/venue-source.js";

/** The path of a block under the checkpoint; undefined while it covers fewer blocks. */
export function blockPath(
  tree: BlockTree,
  published: Published | undefined,
  number: number,
  onRead: (rows: number) => void,
): Buffer[] | undefined {
  if (published === undefined || published.size < number) return undefined;
  return tree.inclusion(number - 1, published.size, onRead);
}

type LogKeys = Pick<OrderProof, "logKey" | "successors">;

/** The proof file of an acknowledgement; undefined while no checkpoint covers its block. */
export function orderProofText(
  source: VenueSource,
  tree: BlockTree,
  published: Published | undefined,
  keys: LogKeys,
  sealed: SealedAck,
  onRead: (rows: number) => void,
): string | undefined {
  const proof = leafProof(tree, published, keys, sealed, onRead);
  if (proof === undefined) return undefined;
  const market = sealed.words[answerFields(sealed.words, 0).market]!;
  const { symbol, tickSize, lotSize } = unitsOf(source, market);
  return encodeOrderProof({ ...proof, market: { symbol, tickSize, lotSize } });
}

/** What leads from a leaf to the checkpoint; undefined while it does not cover the block. */
export function leafProof(
  tree: BlockTree,
  published: Published | undefined,
  keys: LogKeys,
  { leaf, block, index, path }: SealedAck,
  onRead: (rows: number) => void,
): LeafProof | undefined {
  const above = blockPath(tree, published, block.number, onRead);
  if (above === undefined || published === undefined) return undefined;
  return {
    ...keys,
    leaf,
    index,
    path,
    header: encodeHeader(block),
    entry: block.number - 1,
    blockPath: above,
    checkpoint: published.note,
  };
}
