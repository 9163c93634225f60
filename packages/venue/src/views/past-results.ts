/** What a signed batch or a change of margin came to, for a retry of the same body. */
import { REFUSALS, type Refusal } from "@perpgate/engine";
import type { CanceledOrder, LoggedAcknowledgement, MarginChange } from "@perpgate/protocol";
import { fromMicros } from "@perpgate/protocol/core";
import { RESULT_KIND, RESULT_ROW, type ResultRow } from "../history/result-projection.js";
import { loggedAcknowledgement, loggedCancel } from "./acknowledgement.js";
import { orderView } from "./order-view.js";
import type { VenueSource } from "./venue-source.js";

export type PastOperation =
  | { readonly kind: "acknowledged"; readonly acknowledgement: LoggedAcknowledgement }
  | { readonly kind: "canceled"; readonly canceled: CanceledOrder }
  | {
      readonly kind: "refused";
      readonly refusal: Refusal;
      readonly detail1: number;
      readonly detail2: number;
    };

export interface PastBatch {
  /** Seq of its first operation. */
  readonly seq: number;
  /** SHA-256 of the signed body. */
  readonly digest: Uint8Array;
  /** In the order of the operations. */
  readonly operations: readonly PastOperation[];
}

export interface PastMarginChange {
  readonly seq: number;
  /** SHA-256 of the signed body. */
  readonly digest: Uint8Array;
  readonly change: MarginChange;
}

/** The batch that began at that seq, if one did; 0: none. */
export function pastBatch(
  source: VenueSource,
  account: number,
  first: number,
): PastBatch | undefined {
  const { history } = source;
  const row = first === 0 ? undefined : history.result(first);
  if (row === undefined || row.words[RESULT_ROW.KIND] === RESULT_KIND.MARGIN) return undefined;
  const operations: PastOperation[] = [];
  for (let i = 0; i < row.words[RESULT_ROW.COUNT]!; i++) {
    const each = history.result(first + i);
    // The batch may be applied in part: the submitters of the rest are called next.
    if (each === undefined) return undefined;
    operations.push(operationOf(source, account, each));
  }
  return { seq: first, digest: row.digest, operations };
}

function operationOf(
  source: VenueSource,
  account: number,
  { seq, words }: ResultRow,
): PastOperation {
  switch (words[RESULT_ROW.KIND]) {
    case RESULT_KIND.CANCELED:
      return { kind: "canceled", canceled: cancelOf(source, account, seq, words) };
    case RESULT_KIND.REFUSED:
      return {
        kind: "refused",
        refusal: REFUSALS[words[RESULT_ROW.REFUSAL]!] ?? "invalid_command",
        detail1: words[RESULT_ROW.DETAIL1]!,
        detail2: words[RESULT_ROW.DETAIL2]!,
      };
    default: {
      const ack = source.history.ack(seq);
      if (ack === undefined) throw new Error(`command ${seq} has no acknowledgement`);
      const acknowledgement = loggedAcknowledgement(ack, source.listing);
      return { kind: "acknowledged", acknowledgement };
    }
  }
}

function cancelOf(
  source: VenueSource,
  account: number,
  seq: number,
  words: ArrayLike<number>,
): CanceledOrder {
  const row = source.history.answer(seq);
  if (row !== undefined) return loggedCancel(row, source.listing);
  // Of a log under version 2, where a cancel is no leaf.
  const order = orderView(source, account, words[RESULT_ROW.ORDER]!);
  if (order === undefined) throw new Error(`the order that ${seq} canceled is not there`);
  const { orderId, remainingSize } = order;
  return { orderId, status: "canceled", remainingSize };
}

/** The change of margin of that seq, if there was one; 0: none. */
export function pastMarginChange(
  source: VenueSource,
  seq: number,
  nonce: number,
): PastMarginChange | undefined {
  const row = seq === 0 ? undefined : source.history.result(seq);
  if (row === undefined || row.words[RESULT_ROW.KIND] !== RESULT_KIND.MARGIN) return undefined;
  const { words, digest } = row;
  const market = source.listing.markets[words[RESULT_ROW.MARKET]!];
  if (market === undefined) throw new RangeError("a change of margin names no market");
  const change: MarginChange = {
    ackNonce: String(seq),
    symbol: market.symbol,
    nonce,
    amount: fromMicros(words[RESULT_ROW.AMOUNT]!),
    margin: fromMicros(words[RESULT_ROW.MARGIN]!),
    available: fromMicros(words[RESULT_ROW.WALLET]!),
    time: words[RESULT_ROW.TIME]!,
  };
  return { seq, digest, change };
}
