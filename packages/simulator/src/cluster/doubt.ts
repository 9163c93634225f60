/**
 * Whether a gateway may read on. After a silence the servers may be others, with an older copy whose lost
 * places have been filled since: then the message that was read last must first be found in the stream.
 */
import type { ChainedReader } from "./chain.js";
import type { ModelMessage, ModelStream } from "./model-stream.js";
import type { SimulatedTime } from "./virtual-time.js";

const SILENCE_MS = 300;

export class ModelDoubt {
  private isOpen = false;
  private readAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly time: SimulatedTime,
    private readonly stream: ModelStream,
    private readonly reader: ChainedReader,
    private readonly onContradiction: (sequence: number) => void,
  ) {}

  /** Whether `next` may be taken. A late read hides a silence, but not the times that were stored. */
  admits(next: ModelMessage): boolean {
    const { lastRead } = this.reader;
    const apartMs = lastRead === undefined ? 0 : Math.abs(next.atMs - lastRead.atMs);
    if (apartMs >= SILENCE_MS) this.isOpen = true;
    if (!this.isSettled()) return false;
    this.readAtMs = this.time.nowMs;
    return true;
  }

  /** Compares if there was a silence; a doubt stays while the stream has nothing to compare with. */
  isSettled(): boolean {
    const { lastRead } = this.reader;
    if (this.time.nowMs - this.readAtMs >= SILENCE_MS) this.isOpen = true;
    if (!this.isOpen || lastRead === undefined) return true;
    const stored = this.stream.messages[lastRead.sequence - 1];
    if (stored === undefined) return false;
    // The same message may have come to the same place again, after another one: its time differs.
    if (stored.atMs !== lastRead.atMs || Buffer.compare(stored.bytes, lastRead.bytes) !== 0) {
      this.onContradiction(lastRead.sequence);
      return false;
    }
    this.isOpen = false;
    return true;
  }
}
