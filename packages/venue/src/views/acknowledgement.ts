/**
 * Acknowledgements as the wire shows them, from the words of an OrderAcknowledged event. The same
 * words, as bytes, are the leaf that a block's root covers: what a client is told is what is proven.
 */
import { END_REASONS, EVENT, type EventLog, ORDER_STATUSES } from "@perpgate/engine";
import type { Acknowledgement } from "@perpgate/protocol";
import { ACKNOWLEDGED, eventWords } from "../events/event-fields.js";
import { wordsOfBytes } from "../history/words.js";
import type { Listing } from "../listing/listing.js";
import { averagePrice, fromMicros, sideOf, sizeOf } from "./figures.js";

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
  const field = (offset: number): number => words[at + offset]!;
  const market = listing.markets[field(ACKNOWLEDGED.market)];
  const status = ORDER_STATUSES[field(ACKNOWLEDGED.status)];
  if (market === undefined || status === undefined) {
    throw new RangeError("an acknowledgement names a market or a status that does not exist");
  }
  const id = String(field(ACKNOWLEDGED.orderId));
  const filled = field(ACKNOWLEDGED.filledLots);
  const lots = field(ACKNOWLEDGED.positionLots);
  return {
    ackNonce: id,
    orderId: id,
    symbol: market.symbol,
    side: sideOf(field(ACKNOWLEDGED.side)),
    nonce: field(ACKNOWLEDGED.nonce),
    status,
    filledSize: sizeOf(market, filled),
    remainingSize: sizeOf(market, field(ACKNOWLEDGED.remainingLots)),
    avgFillPrice: averagePrice(market, field(ACKNOWLEDGED.filledMicros), filled),
    feePaid: fromMicros(field(ACKNOWLEDGED.feeMicros)),
    positionAfter: {
      size: sizeOf(market, lots),
      avgEntry: averagePrice(market, field(ACKNOWLEDGED.positionCostMicros), lots),
      unrealizedPnl: fromMicros(field(ACKNOWLEDGED.unrealizedMicros)),
    },
    expectedBlock: field(ACKNOWLEDGED.block),
    reason: reasonOf(field(ACKNOWLEDGED.reason)),
  };
}

export function reasonOf(code: number): string | null {
  return code === 0 ? null : (END_REASONS[code] ?? null);
}
