/**
 * Results that a retry must get again and that no acknowledgement tells: those of the operations of a
 * signed batch, refusals included, and changes of margin. One row per command, by seq; the first of a
 * batch and a change of margin also hold the SHA-256 of the signed body.
 */
import { createHash } from "node:crypto";
import { EVENT } from "@perpgate/engine";
import { ENDED, eventWords, firstOwnEvent, MARGIN_CHANGED, REFUSED } from "../event-fields.js";
import type { Applied } from "../replica.js";
import { HistoryDamaged } from "../venue-errors.js";
import { ROW_TABLES } from "./history-environment.js";
import { keyOf } from "./keys.js";
import { bytesOfWords, type RowSink, wordsOfBytes } from "./rows.js";

/** First word of a row. The number of a kind is part of the store's format. */
export const RESULT_KIND = { ACKNOWLEDGED: 1, CANCELED: 2, REFUSED: 3, MARGIN: 4 } as const;

export const RESULT_ROW = {
  KIND: 0,
  /** Place in the batch; 0 of 1 for a change of margin. */
  INDEX: 1,
  COUNT: 2,
  TIME: 3,
  /** CANCELED. */
  ORDER: 4,
  /** REFUSED: index into the engine's REFUSALS, and the details. */
  REFUSAL: 4,
  DETAIL1: 5,
  DETAIL2: 6,
  /** MARGIN. */
  MARKET: 4,
  AMOUNT: 5,
  MARGIN: 6,
  WALLET: 7,
} as const;
const RESULT_WORDS = 8;
const RESULT_BYTES = RESULT_WORDS * 8;
const DIGEST_BYTES = 32;

export interface ResultRow {
  readonly seq: number;
  readonly words: ArrayLike<number>;
  /** Of the signed body; empty for later operations of a batch. */
  readonly digest: Buffer;
}

export class ResultProjection {
  constructor(private readonly queue: RowSink) {}

  onCommand(applied: Applied): void {
    const { command } = applied;
    switch (command.kind) {
      case "ChangeMargin":
        this.onMargin(applied);
        return;
      case "PlaceOrder":
      case "AmendOrder":
      case "CancelOrder":
        if (command.batch !== undefined) this.onOperation(applied, command.batch);
    }
  }

  private onMargin(applied: Applied): void {
    const { words, length } = applied.events;
    const at = lastOf(words, length, EVENT.MarginChanged);
    if (at < 0) return;
    const market = words[at + MARGIN_CHANGED.market]!;
    const amount = words[at + MARGIN_CHANGED.amountMicros]!;
    const margin = words[at + MARGIN_CHANGED.marginMicros]!;
    const wallet = words[at + MARGIN_CHANGED.walletMicros]!;
    const row = [RESULT_KIND.MARGIN, 0, 1, applied.timeMs, market, amount, margin, wallet];
    this.put(applied, row, true);
  }

  private onOperation(
    applied: Applied,
    { index, count }: { readonly index: number; readonly count: number },
  ): void {
    const { events, timeMs } = applied;
    const { words, length } = events;
    const at = firstOwnEvent(events);
    // A repeated batch has its results where it was executed.
    if (words[at] === EVENT.OrderReplayed) return;
    const row = [RESULT_KIND.ACKNOWLEDGED, index, count, timeMs, 0, 0, 0, 0];
    if (words[at] === EVENT.CommandRefused) {
      row[RESULT_ROW.KIND] = RESULT_KIND.REFUSED;
      row[RESULT_ROW.REFUSAL] = words[at + REFUSED.refusal]!;
      row[RESULT_ROW.DETAIL1] = words[at + REFUSED.detail1]!;
      row[RESULT_ROW.DETAIL2] = words[at + REFUSED.detail2]!;
    } else if (applied.command.kind === "CancelOrder") {
      row[RESULT_ROW.KIND] = RESULT_KIND.CANCELED;
      row[RESULT_ROW.ORDER] = firstEnded(words, length);
    }
    this.put(applied, row, index === 0);
  }

  private put({ seq, evidence }: Applied, row: readonly number[], hasDigest: boolean): void {
    const digest = hasDigest ? createHash("sha256").update(evidence.signed).digest() : NO_DIGEST;
    this.queue.put(ROW_TABLES.results, keyOf(seq), encodeResult(row, digest));
  }
}

const NO_DIGEST = Buffer.alloc(0);

export function encodeResult(words: readonly number[], digest: Buffer): Buffer {
  return Buffer.concat([bytesOfWords(words), digest]);
}

/** @throws HistoryDamaged for bytes that no projection writes. */
export function decodeResult(seq: number, bytes: Buffer): ResultRow {
  const rest = bytes.length - RESULT_BYTES;
  if (rest !== 0 && rest !== DIGEST_BYTES) {
    throw new HistoryDamaged(`a row of results has ${bytes.length} bytes`);
  }
  const words = wordsOfBytes(bytes.subarray(0, RESULT_BYTES));
  return { seq, words, digest: bytes.subarray(RESULT_BYTES) };
}

function lastOf(words: Float64Array, length: number, kind: number): number {
  let found = -1;
  for (let at = 0; at < length; at += eventWords(words[at]!)) if (words[at] === kind) found = at;
  return found;
}

/** The order that a cancel names ends first; others may follow. */
function firstEnded(words: Float64Array, length: number): number {
  for (let at = 0; at < length; at += eventWords(words[at]!)) {
    if (words[at] === EVENT.OrderEnded) return words[at + ENDED.orderId]!;
  }
  return 0;
}
