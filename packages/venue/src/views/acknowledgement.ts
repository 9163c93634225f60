/**
 * Acknowledgements in wire form, from the words of an OrderAcknowledged event. The same words, as
 * bytes, are the leaf in a block's tree: a client receives exactly what the block proves.
 */
import { EVENT, type EventLog } from "@perpgate/engine";
import type { Acknowledgement } from "@perpgate/protocol";
import { type AcknowledgedField, acknowledgementOf, readLeaf } from "@perpgate/protocol/core";
import { ACKNOWLEDGED, eventWords } from "../event-fields.js";
import type { Listing } from "../listing/listing.js";
import { HistoryDamaged } from "../venue-errors.js";

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
  const fields = readLeaf(leaf);
  if (fields === undefined) throw new HistoryDamaged("an acknowledgement's leaf cannot be read");
  return acknowledgementFrom((name) => fields[name], listing);
}

function acknowledgementAt(
  words: ArrayLike<number>,
  at: number,
  listing: Listing,
): Acknowledgement {
  return acknowledgementFrom((name) => words[at + ACKNOWLEDGED[name]]!, listing);
}

function acknowledgementFrom(
  field: (name: AcknowledgedField) => number,
  listing: Listing,
): Acknowledgement {
  const market = listing.markets[field("market")];
  if (market === undefined) throw new RangeError("an acknowledgement names no market of the venue");
  return acknowledgementOf(field, market);
}
