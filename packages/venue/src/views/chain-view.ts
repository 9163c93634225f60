/** Blocks, and the proof that a block contains an acknowledgement. */
import type { Block, PreconfirmProof } from "@perpgate/protocol";
import { hexFromBytes } from "@perpgate/protocol/core";
import type { SealedBlock } from "../blocks/block-header.js";
import { answerFields, isAnswer, promisedBlock } from "../event-fields.js";
import type { History } from "../history/history.js";
import { wordsOfBytes } from "../history/rows.js";
import { sealedAnswer } from "./acknowledgement.js";
import type { VenueSource } from "./venue-source.js";

export function blockView({ history }: VenueSource, number: number): Block | undefined {
  const block = history.block(number);
  return block === undefined ? undefined : blockOf(block);
}

function blockOf(block: SealedBlock): Block {
  return {
    number: block.number,
    hash: hex(block.hash),
    parentHash: hex(block.parentHash),
    firstPosition: String(block.firstPosition),
    lastPosition: String(block.lastPosition),
    ackCount: block.ackCount,
    acksRoot: hex(block.acksRoot),
    ackListHash: hex(block.ackListHash),
    eventsHash: hex(block.eventsHash),
    time: block.timeMs,
  };
}

/** A leaf with its place in its sealed block. */
export interface SealedAck {
  readonly leaf: Buffer;
  readonly words: ArrayLike<number>;
  readonly block: SealedBlock;
  readonly index: number;
  readonly path: readonly Buffer[];
}

/**
 * The leaf at a seq, if there is one and `isWanted` returns true for its words; `not_sealed`
 * while its block is open. `onRead` gets the number of acknowledgements that are read for it.
 */
export async function sealedAck(
  history: History,
  seq: number,
  onRead: (rows: number) => void,
  isWanted: (words: ArrayLike<number>) => boolean = () => true,
): Promise<SealedAck | "not_sealed" | undefined> {
  const found = await history.read(() => {
    const leaf = history.leaf(seq)?.leaf;
    if (leaf === undefined) return undefined;
    const words = wordsOfBytes(leaf);
    if (!isWanted(words)) return undefined;
    return { leaf, words, block: history.block(promisedBlock(words, 0)!) };
  });
  if (found === undefined) return undefined;
  const { leaf, words, block } = found;
  if (block === undefined) return "not_sealed";
  const tree = await history.ackTrees.of(block, onRead);
  return { leaf, words, block, ...tree.proof(seq) };
}

/**
 * The proof of an account's own acknowledgement; `not_sealed` while its block is open, undefined if the
 * account has none at that seq.
 */
export async function preconfirmView(
  { history, listing }: VenueSource,
  account: number,
  seq: number,
  onRead: (rows: number) => void,
): Promise<Omit<PreconfirmProof, "log"> | "not_sealed" | undefined> {
  const isOwn = (words: ArrayLike<number>): boolean =>
    isAnswer(words, 0) && words[answerFields(words, 0).account] === account;
  const sealed = await sealedAck(history, seq, onRead, isOwn);
  if (sealed === undefined || sealed === "not_sealed") return sealed;
  const { leaf, block, index, path } = sealed;
  return {
    ...sealedAnswer(leaf, listing),
    block: block.number,
    index,
    leaf: hex(leaf),
    path: path.map(hex),
  };
}

function hex(bytes: Uint8Array): string {
  return `0x${hexFromBytes(bytes)}`;
}
