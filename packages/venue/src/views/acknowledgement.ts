/**
 * Acknowledgements in wire form, from the words of an OrderAcknowledged event. The same words, as
 * bytes, are the leaf in a block's tree: a client receives exactly what the block proves.
 */
import { EVENT, type EventLog } from "@perpgate/engine";
import type { Acknowledgement, LoggedAcknowledgement } from "@perpgate/protocol";
import {
  acknowledgementOf,
  acknowledgementOfLeaf as ofLeaf,
  readLeaf,
} from "@perpgate/protocol/core";
import { leafAt } from "../blocks/block-builder.js";
import { ACKNOWLEDGED, eventWords } from "../event-fields.js";
import type { AckRow } from "../history/ack-row.js";
import type { Listing, MarketUnits } from "../listing/listing.js";
import type { Applied } from "../replica.js";
import { HistoryDamaged } from "../venue-errors.js";

/** The acknowledgement among a command's events, if there is one. */
export function acknowledgementIn(
  { events, timeMs }: Pick<Applied, "events" | "timeMs">,
  listing: Listing,
): LoggedAcknowledgement | undefined {
  const at = acknowledgedAt(events);
  return at < 0 ? undefined : withTime(acknowledgementAt(events.words, at, listing), timeMs);
}

/** The leaf among a command's events, which acknowledge it, in base64url. */
export function leafTextIn(events: EventLog): string {
  const { buffer, byteOffset, length } = leafAt(events.words, acknowledgedAt(events));
  return Buffer.from(buffer, byteOffset, length).toString("base64url");
}

/** Where the acknowledgement begins; −1 if there is none. */
export function acknowledgedAt({ words, length }: Pick<EventLog, "words" | "length">): number {
  for (let at = 0; at < length; at += eventWords(words[at]!)) {
    if (words[at] === EVENT.OrderAcknowledged) return at;
  }
  return -1;
}

/** The acknowledgement of an earlier command, as it was answered. */
export function loggedAcknowledgement(
  { leaf, timeMs }: AckRow,
  listing: Listing,
): LoggedAcknowledgement {
  return withTime(loggedLeaf(leaf, listing), timeMs);
}

/** In place: a spread object costs half a kilobyte. */
function withTime(acknowledgement: Acknowledgement, time: number): LoggedAcknowledgement {
  return Object.assign(acknowledgement, { time });
}

export function loggedLeaf(leaf: Uint8Array, listing: Listing): Acknowledgement {
  const fields = readLeaf(leaf);
  if (fields === undefined) throw new HistoryDamaged("an acknowledgement's leaf cannot be read");
  return ofLeaf(fields, marketOf(fields.market, listing));
}

function acknowledgementAt(
  words: ArrayLike<number>,
  at: number,
  listing: Listing,
): Acknowledgement {
  const market = marketOf(words[at + ACKNOWLEDGED.market]!, listing);
  return acknowledgementOf((name) => words[at + ACKNOWLEDGED[name]]!, market);
}

function marketOf(number: number, { markets }: Listing): MarketUnits {
  const market = markets[number];
  if (market === undefined) throw new RangeError("an acknowledgement names no market of the venue");
  return market;
}
