/**
 * What all public streams share: a set of readers, a frame made once per round, and the order in
 * which readers come and go while a round is under way.
 */

import type { Connection } from "../connection.js";
import type { WireFrame } from "../wire-frame.js";
import type { Delivery, Pulse, PulseFeed } from "./pulse.js";

/** How a reader asked for the stream. */
export interface ReadingOptions {
  readonly isPlain: boolean;
}

/** A stream that anyone may read. */
export interface PublicStream {
  /** How many read it now. */
  readonly readerCount: number;
  /** Begins to send; answers how to stop. */
  open(connection: Connection, options: ReadingOptions): () => void;
}

/**
 * A stream whose every frame goes to every reader. A reader that joins gets the frames of the rounds
 * that begin afterwards.
 */
export abstract class SimpleFeed implements PublicStream, PulseFeed {
  protected readonly readers = new Set<Connection>();

  constructor(protected readonly pulse: Pulse) {}

  get readerCount(): number {
    return this.readers.size;
  }

  get isRead(): boolean {
    return this.readers.size > 0;
  }

  open(connection: Connection): () => void {
    const first = this.firstFrame();
    if (first !== undefined) connection.send(first);
    this.readers.add(connection);
    return () => {
      this.readers.delete(connection);
    };
  }

  collect(): Delivery | undefined {
    if (!this.isRead) {
      this.forget();
      return undefined;
    }
    const frame = this.nextFrame();
    if (frame === undefined) return undefined;
    const readers = [...this.readers];
    let at = 0;
    return {
      next: () => {
        const connection = readers[at++];
        if (connection === undefined) return false;
        // One that has left in the meantime is not written to any more.
        if (this.readers.has(connection)) this.deliver(connection, frame);
        return true;
      },
    };
  }

  protected deliver(connection: Connection, frame: WireFrame): void {
    connection.send(frame);
  }

  /** What a new reader is shown at once. */
  protected firstFrame(): WireFrame | undefined {
    return undefined;
  }

  /** What is new since the last round. */
  protected abstract nextFrame(): WireFrame | undefined;

  /** Nobody reads: what was noted for the next round is of no use. */
  protected abstract forget(): void;
}
