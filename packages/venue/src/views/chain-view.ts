/** Blocks, and the proof that a block contains an acknowledgement. */
import type { Block, PreconfirmProof } from "@perpgate/protocol";
import { hexFromBytes } from "@perpgate/protocol/core";
import type { SealedBlock } from "../blocks/block-header.js";
import { inclusionPath } from "../blocks/merkle.js";
import { ACKNOWLEDGED } from "../event-fields.js";
import { wordsOfBytes } from "../history/rows.js";
import { acknowledgementOfLeaf } from "./acknowledgement.js";
import type { VenueSource } from "./venue-source.js";

export function blockView({ history }: VenueSource, number: number): Block | undefined {
  const block = history.block(number);
  return block === undefined ? undefined : blockOf(block);
}

export function blockOf(block: SealedBlock): Block {
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

/**
 * The proof of an account's own acknowledgement; `not_sealed` while its block is open, undefined if the
 * account has none at that seq.
 */
export function preconfirmView(
  { history, listing }: VenueSource,
  account: number,
  seq: number,
): Omit<PreconfirmProof, "log"> | "not_sealed" | undefined {
  const ack = history.ack(seq);
  if (ack === undefined) return undefined;
  const words = wordsOfBytes(ack.leaf);
  if (words[ACKNOWLEDGED.account] !== account) return undefined;
  const block = history.block(words[ACKNOWLEDGED.block]!);
  if (block === undefined) return "not_sealed";
  const acks = history.acksBetween(block.firstPosition, block.lastPosition);
  const index = acks.findIndex((other) => other.seq === seq);
  const leaves = acks.map((other) => other.leaf);
  return {
    ack: acknowledgementOfLeaf(ack.leaf, listing),
    block: block.number,
    index,
    leaf: hex(ack.leaf),
    path: inclusionPath(leaves, index).map(hex),
  };
}

function hex(bytes: Uint8Array): string {
  return `0x${hexFromBytes(bytes)}`;
}
