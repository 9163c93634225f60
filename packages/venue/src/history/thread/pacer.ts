/**
 * Turns work that could take some milliseconds into short turns with rests.
 *
 * The threads of the order path run for a fraction of a millisecond at a time. A thread that works for ten
 * milliseconds without a rest occupies a core. On a machine with few cores the others queue, and neither a low
 * priority nor the scheduler's balancing helps within so short a time.
 */

const TURN_MS = 0.75;
const REST_MS = 3;
/** Work that has taken longer, rests included, goes on without. */
const MOST_MS = 200;

export class ThreadPacer {
  private begunMs = 0;
  private turnMs = 0;

  begin(): void {
    this.begunMs = performance.now();
    this.turnMs = this.begunMs;
  }

  /** How long to rest now; 0: the turn is not over. */
  restMs(): number {
    const nowMs = performance.now();
    const isOver = nowMs - this.turnMs >= TURN_MS && nowMs - this.begunMs < MOST_MS;
    return isOver ? REST_MS : 0;
  }

  /** After a rest. */
  resume(): void {
    this.turnMs = performance.now();
  }
}

/** A `ThreadPacer` that blocks its thread. Whoever adds to `hurry[0]` and notifies ends its rests, until `calm`. */
export class BlockingPacer extends ThreadPacer {
  private readonly hurry: Int32Array;
  private heard = 0;

  constructor(signal: SharedArrayBuffer) {
    super();
    this.hurry = new Int32Array(signal);
  }

  pause(): void {
    if (Atomics.load(this.hurry, 0) !== this.heard) return;
    const restMs = this.restMs();
    if (restMs === 0) return;
    Atomics.wait(this.hurry, 0, this.heard, restMs);
    this.resume();
  }

  calm(): void {
    this.heard = Atomics.load(this.hurry, 0);
  }
}

/** Ends the rests of a `BlockingPacer` in another thread. */
export function endRests(signal: SharedArrayBuffer): void {
  const hurry = new Int32Array(signal);
  Atomics.add(hurry, 0, 1);
  Atomics.notify(hurry, 0);
}
