/** What a recording says, whatever it was written by. */

export interface RecordedLevel {
  readonly kind: "level";
  readonly timeMs: number;
  readonly symbol: string;
  /** 1: bids, −1: asks. */
  readonly side: 1 | -1;
  readonly price: number;
  /** All that rests at the price; 0: nothing. */
  readonly size: number;
}

/** Begins a snapshot: what is not in the levels after it is gone. */
interface BookCleared {
  readonly kind: "cleared";
  readonly timeMs: number;
  readonly symbol: string;
}

export interface RecordedTrade {
  readonly kind: "trade";
  readonly timeMs: number;
  readonly symbol: string;
  /** Of the taker. */
  readonly side: 1 | -1;
  readonly price: number;
  readonly size: number;
}

interface IndexPrice {
  readonly kind: "index";
  readonly timeMs: number;
  readonly symbol: string;
  readonly price: number;
}

export type RecordedEvent = RecordedLevel | BookCleared | RecordedTrade | IndexPrice;

/** One line: the file, the place in it, and what is wrong there. */
export class RecordingError extends RangeError {
  override readonly name = "RecordingError";
}
