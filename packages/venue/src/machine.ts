/** What the sequencer takes from the machine it runs on; a simulation gives it another. */
import { randomBytes } from "node:crypto";

export interface Machine {
  /** Milliseconds that never go back. */
  monotonic(): number;
  /** Calls back again and again, until the returned function is called. */
  every(ms: number, callback: () => void): () => void;
  after(ms: number, callback: () => void): void;
  /** The id of a new writer, never used before. */
  newWriter(): string;
}

export const WRITER_ID_BYTES = 16;

export const REAL_MACHINE: Machine = {
  monotonic: () => performance.now(),
  every(ms, callback) {
    const timer = setInterval(callback, ms);
    return () => clearInterval(timer);
  },
  after(ms, callback) {
    setTimeout(callback, ms);
  },
  newWriter: () => randomBytes(WRITER_ID_BYTES).toString("hex"),
};
