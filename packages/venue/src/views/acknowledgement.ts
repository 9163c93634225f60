/**
 * Acknowledgements in wire form, from the words of an OrderAcknowledged event. The same words, as
 * bytes, are the leaf in a block's tree: a client receives exactly what the block proves.
 */
import { EVENT, type EventLog } from "@perpgate/engine";
import type { Acknowledgement } from "@perpgate/protocol";
import { acknowledgementOf } from "@perpgate/protocol/core";
import { ACKNOWLEDGED, eventWords } from "../events/event-fields.js";
import { wordsOfBytes } from "../history/rows.js";
import type { Listing } from "../listing/listing.js";

/** The acknowledgement among a command's events, if there is one. */
export function acknowledgementIn(
  { words, length }: EventLog,
  listing: Listing,
): Acknowledgement | undefined {
  for (let at = 0; at < length; at += eventWords(words[at]!)) {
    if (words[at] === EVENT.OrderAcknowledged) return acknowledgementAt(words, at, listing);
  }
  return undefined;
}

export function acknowledgementOfLeaf(leaf: Uint8Array, listing: Listing): Acknowledgement {
  return acknowledgementAt(wordsOfBytes(leaf), 0, listing);
}

function acknowledgementAt(words: Float64Array, at: number, listing: Listing): Acknowledgement {
  const market = listing.markets[words[at + ACKNOWLEDGED.market]!];
  if (market === undefined) throw new RangeError("an acknowledgement names no market of the venue");
  return acknowledgementOf((name) => words[at + ACKNOWLEDGED[name]]!, market);
}
