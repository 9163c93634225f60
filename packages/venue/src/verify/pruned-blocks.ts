/**
 * The sealed blocks of a pruned log that only its history has: their headers must form one chain that
 * leads to the block which the replay begins in, each with exactly the acknowledgements and the hashes of
 * the transparency log that its header commits to.
 */
import { AckList } from "../blocks/ack-list.js";
import { decodeBlock, NO_PARENT, type SealedBlock } from "../blocks/block-header.js";
import { MerkleAccumulator } from "../blocks/merkle.js";
import { decodeAck } from "../history/ack-row.js";
import type { Tables } from "../history/history-store.js";
import type { HistoryTable } from "../history/history-table.js";
import { groupOf, keyOf } from "../history/keys.js";
import { TreeProjection } from "../history/tree-projection.js";
import type { ReplicaState } from "../recovery/replica-state.js";

const ROWS_PER_READ = 1_024;

/** Calls `onBlock` with each; returns what differs, or null. @throws {HistoryDamaged} */
export async function prunedBlocksFault(
  { acks, blocks, tree }: Tables,
  { blocks: replayed }: Pick<ReplicaState, "blocks">,
  /** The first position whose acknowledgements the history keeps. */
  keptFrom: number,
  onBlock: (block: SealedBlock) => string | null,
): Promise<string | null> {
  const { number: openNumber, firstPosition, parentHash } = replayed.open();
  let [hash, next] = [NO_PARENT, 1];
  let fault: string | null = null;
  const hashes = new TreeProjection(comparedTree(tree, (reason) => (fault ??= reason)));
  for (let number = 1; number < openNumber; number++) {
    const header = blocks.get(keyOf(number));
    const block = header === undefined ? undefined : decodeBlock(header);
    if (header === undefined || block === undefined) {
      return `block ${number} is missing from the history`;
    }
    const isNext = block.number === number && block.firstPosition === next;
    if (!isNext || !block.parentHash.equals(hash)) {
      return `block ${number} of the history does not continue the one before it`;
    }
    hashes.onSealed(number, header);
    fault ??= (block.firstPosition < keptFrom ? null : acksFault(acks, block)) ?? onBlock(block);
    if (fault !== null) return fault;
    hash = block.hash;
    next = block.lastPosition + 1;
    if (number % ROWS_PER_READ === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const isLast = next === firstPosition && hash.equals(parentHash);
  return isLast
    ? null
    : "the history's blocks do not lead to the snapshot that the log begins with";
}

/** Also for the block that the replay began in, once it is sealed: its first ones are from before. */
export function acksFault(acks: HistoryTable, block: SealedBlock): string | null {
  const tree = new MerkleAccumulator();
  const list = new AckList();
  const { firstPosition, lastPosition } = block;
  for (let from = firstPosition; ; ) {
    const page = acks.ascending(keyOf(from), keyOf(lastPosition + 1), ROWS_PER_READ);
    for (const { key, value } of page) {
      const seq = groupOf(key);
      list.add(seq, tree.add(decodeAck(seq, value).leaf));
      from = seq + 1;
    }
    if (page.length < ROWS_PER_READ) break;
  }
  const isSealed = tree.count === block.ackCount && tree.root().equals(block.acksRoot);
  if (isSealed && list.hash().equals(block.ackListHash)) return null;
  return `the history's acknowledgements of block ${block.number} are not those that it sealed`;
}

/** Rows past the end of the log: a start would take the last of them for its newest block. */
export function surplusFault({ acks, blocks }: Tables, lastBlock: number, seq: number) {
  for (const [table, name, last] of [
    [blocks, "blocks", lastBlock],
    [acks, "acks", seq],
  ] as const) {
    const [entry] = table.ascending(keyOf(last + 1), keyOf(Number.MAX_SAFE_INTEGER), 1);
    if (entry !== undefined) return `${name}, row ${groupOf(entry.key)}: the log makes none`;
  }
  return null;
}

/** Takes what the projection makes, and compares it with what is stored. */
function comparedTree(stored: HistoryTable, onFault: (reason: string) => void) {
  const other = () => {
    throw new Error("the tree's projection puts whole rows");
  };
  return {
    put(_table: unknown, key: Uint8Array, value: Uint8Array): void {
      if (stored.get(Buffer.from(key))?.equals(value) === true) return;
      onFault(`tree, row ${groupOf(Buffer.from(key))}: the history holds another hash`);
    },
    putWords: other,
    overwrite: other,
  };
}
