/**
 * The replicated stream as its clients see it: messages that arrive late, in any order between
 * writers, more than once or never, and that all readers get in one order. It can stall (an election),
 * and lose its end (servers restored from an older copy).
 */
import type { SimulatedTime } from "./virtual-time.js";

export interface ModelMessage {
  readonly sequence: number;
  readonly writer: string;
  readonly bytes: Uint8Array;
  readonly atMs: number;
}

interface Publish {
  readonly writer: string;
  readonly bytes: Uint8Array;
  /** Sequence of the last message of the writer, as it knows it. */
  readonly expectedLast: number;
  readonly onAcknowledged: (sequence: number) => void;
}

export class ModelStream {
  messages: ModelMessage[] = [];
  /** Arrivals are lost: the run is over. */
  isClosed = false;
  /** Publishes, answers to them that were slow or late included. */
  readonly counts = { appended: 0, refused: 0, lostOnTheWay: 0, slow: 0, late: 0 };
  private stalledUntilMs = 0;
  private readonly lastOf = new Map<string, number>();
  private readonly readers = new Set<() => void>();

  constructor(
    private readonly time: SimulatedTime,
    /** Whether the server compares the expected sequence; without it the log has duplicates. */
    readonly isStrict: boolean,
  ) {}

  get last(): number {
    return this.messages.length;
  }

  /** Calls back at each new message; returns a function that ends it. */
  follow(onMessage: () => void): () => void {
    this.readers.add(onMessage);
    return () => this.readers.delete(onMessage);
  }

  stall(ms: number): void {
    this.stalledUntilMs = Math.max(this.stalledUntilMs, this.time.nowMs + ms);
  }

  endStall(): void {
    this.stalledUntilMs = 0;
  }

  arrive(publish: Publish): void {
    if (this.isClosed) return;
    const { nowMs } = this.time;
    if (nowMs < this.stalledUntilMs) {
      this.time.after(this.stalledUntilMs - nowMs, () => this.arrive(publish));
      return;
    }
    const { writer, bytes } = publish;
    if (this.isStrict && (this.lastOf.get(writer) ?? 0) !== publish.expectedLast) {
      this.counts.refused++;
      return;
    }
    const sequence = this.last + 1;
    this.messages.push({ sequence, writer, bytes, atMs: nowMs });
    this.lastOf.set(writer, sequence);
    this.counts.appended++;
    publish.onAcknowledged(sequence);
    for (const onMessage of this.readers) onMessage();
  }

  /** The servers have come back with an older copy. */
  rollBack(last: number): void {
    this.replace(this.messages.slice(0, last));
  }

  /** `cluster reseed`: the messages of a mirror. */
  replace(messages: readonly ModelMessage[]): void {
    this.messages = [...messages];
    this.lastOf.clear();
    for (const { writer, sequence } of messages) this.lastOf.set(writer, sequence);
  }
}
