/** Proofs that lead from an acknowledgement or a block to the published checkpoint. */
import { encodeOrderProof, type OrderProof } from "@perpgate/protocol/receipts";
import { encodeHeader } from "../blocks/block-header.js";
import { ACKNOWLEDGED } from "../event-fields.js";
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

/** The proof file of an acknowledgement; undefined while no checkpoint covers its block. */
export function orderProofText(
  source: VenueSource,
  tree: BlockTree,
  published: Published | undefined,
  keys: Pick<OrderProof, "logKey" | "successors">,
  { leaf, words, block, index, path }: SealedAck,
  onRead: (rows: number) => void,
): string | undefined {
  const above = blockPath(tree, published, block.number, onRead);
  if (above === undefined || published === undefined) return undefined;
  const { symbol, tickSize, lotSize } = unitsOf(source, words[ACKNOWLEDGED.market]!);
  return encodeOrderProof({
    ...keys,
    leaf,
    index,
    path,
    header: encodeHeader(block),
    market: { symbol, tickSize, lotSize },
    entry: block.number - 1,
    blockPath: above,
    checkpoint: published.note,
  });
}
