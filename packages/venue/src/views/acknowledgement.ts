/**
 * Acknowledgements in wire form, from the words of an OrderAcknowledged or CancelAcknowledged event. The
 * same words, as bytes, are the leaf in a block's tree: a client receives exactly what the block proves.
 */
import { EVENT, type EventLog } from "@perpgate/engine";
import type {
  Acknowledgement,
  CancelAcknowledgement,
  CanceledOrder,
  LoggedAcknowledgement,
  PreconfirmProof,
} from "@perpgate/protocol";
import {
  acknowledgementOf,
  cancelOfLeaf,
  fromSteps,
  isCancelLeaf,
  acknowledgementOfLeaf as ofLeaf,
  orderIdText,
  readCancelLeaf,
  readLeaf,
} from "@perpgate/protocol/core";
import { leafAt } from "../blocks/block-builder.js";
import { ACKNOWLEDGED, ENDED, eventWords, isAnswer } from "../event-fields.js";
import type { AckRow } from "../history/ack-row.js";
import type { Listing, MarketUnits } from "../listing/listing.js";
import type { Applied, KeptApplied } from "../replica.js";
import { HistoryDamaged } from "../venue-errors.js";

/** The acknowledgement of an order or amendment among a command's events, if there is one. */
export function acknowledgementIn(
  { events, timeMs }: Pick<Applied, "events" | "timeMs">,
  listing: Listing,
): LoggedAcknowledgement | undefined {
  const { words } = events;
  const at = acknowledgedAt(events);
  if (at < 0 || words[at] !== EVENT.OrderAcknowledged) return undefined;
  return withTime(acknowledgementAt(words, at, listing), timeMs);
}

/** What a cancel of one order has ended, as it is answered. */
export function canceledIn({ events, timeMs }: KeptApplied, listing: Listing): CanceledOrder {
  const { words } = events;
  const at = acknowledgedAt(events);
  return at < 0
    ? unsealedCancel(events, listing)
    : withTime(sealedCancel(leafAt(words, at), listing), timeMs);
}

/** Under version 2 a cancel is no leaf. The first order to end is the one that was named. */
function unsealedCancel({ words, length }: EventLog, { markets }: Listing): CanceledOrder {
  for (let at = 0; at < length; at += eventWords(words[at]!)) {
    if (words[at] !== EVENT.OrderEnded) continue;
    const { lot } = marketOf(words[at + ENDED.market]!, { markets });
    const remainingSize = fromSteps(words[at + ENDED.remainingLots]!, lot);
    return { orderId: orderIdText(words[at + ENDED.orderId]!), status: "canceled", remainingSize };
  }
  throw new Error("a cancel has ended nothing");
}

/** The leaf among a command's events, which acknowledge it, in base64url. */
export function leafTextIn(events: EventLog): string {
  const { buffer, byteOffset, length } = leafAt(events.words, acknowledgedAt(events));
  return Buffer.from(buffer, byteOffset, length).toString("base64url");
}

/** Where the acknowledgement of an order or a cancel begins; −1 if there is none. */
export function acknowledgedAt({ words, length }: Pick<EventLog, "words" | "length">): number {
  for (let at = 0; at < length; at += eventWords(words[at]!)) {
    if (isAnswer(words, at)) return at;
  }
  return -1;
}

/** The acknowledgement of an earlier order or amendment, as it was answered. */
export function loggedAcknowledgement(
  { leaf, timeMs }: AckRow,
  listing: Listing,
): LoggedAcknowledgement {
  return withTime(sealedOrder(leaf, listing), timeMs);
}

/** What an earlier cancel was answered with. */
export function loggedCancel({ leaf, timeMs }: AckRow, listing: Listing): CanceledOrder {
  return withTime(sealedCancel(leaf, listing), timeMs);
}

/** In place: a spread object costs half a kilobyte. */
function withTime<A extends object>(acknowledgement: A, time: number): A & { time: number } {
  return Object.assign(acknowledgement, { time });
}

/** What a leaf of an order or a cancel says. */
export function sealedAnswer(
  leaf: Uint8Array,
  listing: Listing,
): Pick<PreconfirmProof, "ack" | "canceled"> {
  return isCancelLeaf(leaf)
    ? { canceled: sealedCancel(leaf, listing) }
    : { ack: sealedOrder(leaf, listing) };
}

function sealedOrder(leaf: Uint8Array, listing: Listing): Acknowledgement {
  const fields = readLeaf(leaf);
  if (fields === undefined) throw new HistoryDamaged("an acknowledgement's leaf cannot be read");
  return ofLeaf(fields, marketOf(fields.market, listing));
}

function sealedCancel(leaf: Uint8Array, listing: Listing): CancelAcknowledgement {
  const fields = readCancelLeaf(leaf);
  if (fields === undefined) throw new HistoryDamaged("a cancel's leaf cannot be read");
  return cancelOfLeaf(fields, marketOf(fields.market, listing));
}

function acknowledgementAt(
  words: ArrayLike<number>,
  at: number,
  listing: Listing,
): Acknowledgement {
  const market = marketOf(words[at + ACKNOWLEDGED.market]!, listing);
  return acknowledgementOf((name) => words[at + ACKNOWLEDGED[name]]!, market);
}

function marketOf(number: number, { markets }: Pick<Listing, "markets">): MarketUnits {
  const market = markets[number];
  if (market === undefined) throw new RangeError("an acknowledgement names no market of the venue");
  return market;
}
