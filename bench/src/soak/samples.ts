/** What a soak sees over time. */
import type { LoadWindow } from "./load.js";
import type { VenueFigures } from "./venue.js";

export interface Sample {
  /** Since the soak began. */
  readonly atMs: number;
  /** Which process of the venue, from 0, and for how long it has run. */
  readonly life: number;
  readonly ageMs: number;
  readonly venue: VenueFigures;
  readonly load: LoadWindow;
  /** Attacked within this window or the one before. */
  readonly isAttacked: boolean;
}

/** The end of one process and the beginning of the next. */
export interface Restart {
  readonly signal: "SIGTERM" | "SIGKILL";
  readonly code: number | null;
  readonly readyMs: number;
  readonly looked: number;
  readonly missing: readonly string[];
}
