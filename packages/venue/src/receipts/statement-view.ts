/** The statement of a receipt from the history: the same bytes as when the order was applied. */
import { bytesFromHex, readLeaf } from "@perpgate/protocol/core";
import { type ReceiptStatement, statementBytes } from "@perpgate/protocol/receipts";
import { NO_PARENT } from "../blocks/block-header.js";
import { leafHash } from "../blocks/merkle.js";
import type { HistoryReader } from "../history/history-reader.js";
import { RESULT_ROW } from "../history/result-projection.js";
import { HistoryDamaged } from "../venue-errors.js";
import { stateOf, type VenueSource } from "../views/venue-source.js";

/** The statement about the acknowledgement at a seq; undefined if there is none. */
function statementAt(source: VenueSource, seq: number): ReceiptStatement | undefined {
  const { history, listing } = source;
  const ack = history.ack(seq);
  if (ack === undefined) return undefined;
  const leaf = readLeaf(ack.leaf);
  const address = bytesFromHex(stateOf(source).addresses.at(leaf?.account ?? 0) ?? "");
  const venueId = bytesFromHex(listing.venueId ?? "");
  if (leaf === undefined || address === undefined || venueId === undefined) {
    throw new HistoryDamaged(`the acknowledgement at ${seq} cannot be read`);
  }
  return {
    venueId,
    position: seq,
    requestHash: requestHashAt(history, seq) ?? ack.digest,
    address,
    session: leaf.session,
    leafHash: leafHash(ack.leaf),
    block: leaf.block,
    timeMs: ack.timeMs,
    lastBlockHash: hashBefore(history, leaf.block),
  };
}

/** A statement with another hash than the first one's would be evidence against the venue. */
function hashBefore(history: HistoryReader, block: number): Buffer {
  if (block === 1) return NO_PARENT;
  const before = history.block(block - 1);
  if (before === undefined) throw new HistoryDamaged(`block ${block - 1} is missing`);
  return before.hash;
}

/** For an operation of a signed batch: the digest of the whole body, stored with the first operation. */
function requestHashAt(history: HistoryReader, seq: number): Buffer | undefined {
  const result = history.result(seq);
  if (result === undefined) return undefined;
  return history.result(seq - result.words[RESULT_ROW.INDEX]!)?.digest;
}

export function statementBufferAt(source: VenueSource, seq: number): Buffer | undefined {
  const statement = statementAt(source, seq);
  return statement === undefined ? undefined : Buffer.from(statementBytes(statement).buffer);
}
