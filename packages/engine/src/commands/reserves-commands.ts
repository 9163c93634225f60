/** What the venue says that it owes. */

/** Puts the root of a tree over all balances, counted after `position`, into the next block. */
export interface CommitReserves {
  readonly kind: "CommitReserves";
  readonly stampMs: number;
  readonly position: number;
  /** 64 lower-case hex digits. */
  readonly root: string;
  readonly sumMicros: number;
  readonly leaves: number;
}
