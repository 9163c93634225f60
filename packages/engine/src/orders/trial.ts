/** What an order that may have to be undone has changed in derived structures; see undo-trial.ts. */
import type { Market } from "../state/market.js";
import type { Reach } from "../state/reaches.js";

/** Words per entry of `Trial.positions`. */
export const NOTED_WORDS = 4;

/** Where a stop waited in its line. */
interface WaitedStop {
  /** The one before it, or NONE. */
  readonly before: number;
  /** The tick whose stops began with it, if one's did. */
  readonly run: Reach | undefined;
}

export class Trial {
  isOn = false;
  /** Rows of orders that were removed, in that order. */
  readonly removed: number[] = [];
  /** Stops that were reached and have left their line, in that order. */
  readonly waited = new Map<number, WaitedStop>();
  /** Rows of positions before a maker was met, with closing side, frontier and covered lots. */
  readonly positions: number[] = [];

  /** Orders whose exits have changed. */
  readonly pairs: number[] = [];

  begin(): void {
    this.isOn = true;
    this.removed.length = 0;
    this.waited.clear();
    this.positions.length = 0;
    this.pairs.length = 0;
  }

  /** Must precede changes of what a position keeps of its closing orders. */
  notePosition({ positions }: Market, row: number): void {
    this.positions.push(
      row,
      positions.closingSide(row),
      positions.frontier(row),
      positions.covered(row),
    );
  }
}
