/**
 * What became of the unsigned requests of the last 30 s, by id: at which position each was executed or
 * refused, and those of its events that its answer needs. Older ones are removed by ticks, a bounded number
 * each; until then they make no difference, in snapshots neither.
 */
import { REQUEST_KEPT_MS } from "../config.js";

/** Removed per tick at most: more than a core takes in the time of a tick. */
const FORGOTTEN_PER_TICK = 16_384;

export interface KeptRequest {
  readonly id: string;
  /** Of its command, and the venue's time then. */
  readonly position: number;
  readonly timeMs: number;
  /** Events, in the form of the event log. */
  readonly words: Float64Array<ArrayBuffer>;
}

export class KeptRequests {
  /** In the order of the log, so that the oldest are the first. */
  private readonly byId = new Map<string, KeptRequest>();

  get(id: string, timeMs: number): KeptRequest | undefined {
    const kept = this.byId.get(id);
    return kept !== undefined && counts(kept, timeMs) ? kept : undefined;
  }

  keep(request: KeptRequest): void {
    // One of the same id no longer counts; the new one is the youngest.
    this.byId.delete(request.id);
    this.byId.set(request.id, request);
  }

  forget(timeMs: number): void {
    let left = FORGOTTEN_PER_TICK;
    for (const kept of this.byId.values()) {
      if (counts(kept, timeMs) || left === 0) return;
      this.byId.delete(kept.id);
      left--;
    }
  }

  /** Those that count at that time, by position. */
  entries(timeMs: number): KeptRequest[] {
    return [...this.byId.values()].filter((kept) => counts(kept, timeMs));
  }
}

function counts(kept: KeptRequest, timeMs: number): boolean {
  return timeMs < kept.timeMs + REQUEST_KEPT_MS;
}
