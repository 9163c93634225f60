/**
 * What the encoder and the decoder of a book side must agree on: the coder's constants and which
 * context each bit belongs to. docs/streams.md specifies the format for other decoders, and
 * docs/adr/0030-book-packing.md has the reasons.
 */

export type BookSide = "bid" | "ask";

/** A price in ticks and a size in lots; 0 lots, in a delta, removes the level. */
export type Level = readonly [tick: number, lots: number];

/** Odds are counted in 4096ths. */
export const ODDS_BITS = 12;
export const ODDS_ONE = 1 << ODDS_BITS;
export const EVEN_ODDS = ODDS_ONE / 2;

/**
 * The n-th visit moves a context's odds by 1/(n + 1) of the distance to the bit that it saw, from the
 * 31st on by 1/32. That keeps them within 31…4065 without a clamp: from 2048, even a run of equal bits only
 * reaches 2048/(n + 1), and a step of 1/32 rounds to nothing below 32.
 */
export const FIRST_PACE = 2;
export const LAST_PACE_BITS = 5;
export const LAST_PACE = 1 << LAST_PACE_BITS;

/** The state stays in [2^23, 2^31) while there are bytes: it fits 32 bits in any language. */
export const STATE_FLOOR = 2 ** 23;
/**
 * The state before the first symbol is encoded and after the last is decoded. Of
 * truncated sides, 1 in 300 ends in this one by accident, where 1 in 20 would end in 1; and since no
 * odds are below 31, it lengthens a side by little more: 0.4 % of real deltas' bytes.
 */
export const EMPTY_STATE = 31;
/** Unpredictable bits are encoded in chunks of up to this many. */
export const RAW_CHUNK = 16;

/** A number is its width in a tree of 6 bits, then 3 predicted bits, then raw ones. */
export const WIDTHS = 64;
/** Below this, the value so far says which context predicts the next bit. */
export const PREDICTED = 8;

/** Plain lots and 31 other forms of a size: 2 × decimal zeros, + 1 if it is an amount of money. */
export const FORMS = 32;
export const MAX_ZEROS = FORMS / 2 - 1;

export const CONTEXT_MORE = 0;
export const CONTEXT_SHAPED = 1;
export const CONTEXT_FORM = 32;
export const CONTEXT_FIRST_TICK = 512;
export const CONTEXT_GAP = 1024;
/** The first of `FORMS` blocks of 512: numbers of different forms have different distributions. */
export const CONTEXT_SIZE = 1536;
export const CONTEXTS_PER_NUMBER = 512;
export const CONTEXTS = CONTEXT_SIZE + FORMS * CONTEXTS_PER_NUMBER;

/** Both ends reject a side with more levels; no book comes near it. */
export const MAX_LEVELS = 2 ** 20;

/** 10^0 … 10^15, all exact. */
export const POWERS_OF_TEN: readonly number[] = Array.from({ length: MAX_ZEROS + 1 }, (_, zeros) =>
  Number(`1e${zeros}`),
);

export class BookCodecError extends RangeError {
  override readonly name = "BookCodecError";
}
