/**
 * Public streams whose every frame goes to every reader: encoded once per round, sent to the readers
 * that were subscribed when the round began. `trades.<symbol>` and `blocks` are two of them.
 */

import type { Block, Trade } from "@perpgate/protocol";
import type { ClientSocket } from "../connection.js";
import { streamFrame, type WireFrame } from "../wire-frame.js";
import type { Delivery, FrameScheduler, ScheduledFeed } from "./frame-scheduler.js";

export interface ReadingOptions {
  /** A book as JSON numbers instead of the packed form. */
  readonly isPlain: boolean;
}

export interface PublicFeed {
  readonly readerCount: number;
  /** Starts sending; returns a function that stops it. */
  open(connection: ClientSocket, options: ReadingOptions): () => void;
}

export abstract class BroadcastFeed implements PublicFeed, ScheduledFeed {
  protected readonly readers = new Set<ClientSocket>();

  constructor(protected readonly scheduler: FrameScheduler) {}

  get readerCount(): number {
    return this.readers.size;
  }

  get isRead(): boolean {
    return this.readers.size > 0;
  }

  open(connection: ClientSocket): () => void {
    const first = this.firstFrame();
    if (first !== undefined) connection.send(first);
    this.readers.add(connection);
    return () => {
      this.readers.delete(connection);
    };
  }

  collect(): Delivery | undefined {
    if (!this.isRead) {
      this.discard();
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
        // Readers that unsubscribed during the round are skipped.
        if (this.readers.has(connection)) this.deliver(connection, frame);
        return true;
      },
    };
  }

  protected deliver(connection: ClientSocket, frame: WireFrame): void {
    connection.send(frame);
  }

  /** Sent to a new reader immediately. */
  protected firstFrame(): WireFrame | undefined {
    return undefined;
  }

  /** What is new since the last round. */
  protected abstract nextFrame(): WireFrame | undefined;

  /** Drops what was collected for the next round: nobody reads the stream. */
  protected abstract discard(): void;
}

/** `trades.<symbol>`: each trade once, those of a round in one frame. */
export class TradesFeed extends BroadcastFeed {
  private trades: Trade[] = [];

  constructor(
    scheduler: FrameScheduler,
    private readonly symbol: string,
  ) {
    super(scheduler);
  }

  onTrades(trades: readonly Trade[]): void {
    if (!this.isRead) return;
    this.trades = this.trades.concat(trades);
    this.scheduler.markDirty(this);
  }

  protected override nextFrame(): WireFrame | undefined {
    if (this.trades.length === 0) return undefined;
    const frame = streamFrame("trades", this.trades, this.symbol);
    this.trades = [];
    return frame;
  }

  protected override discard(): void {
    this.trades = [];
  }
}

/** `blocks`: every sealed block, one frame each. */
export class BlocksFeed extends BroadcastFeed {
  private sealed: Block[] = [];

  onBlock(block: Block): void {
    if (!this.isRead) return;
    this.sealed.push(block);
    this.scheduler.markDirty(this);
  }

  /** The blocks of one round are several frames in one write. */
  protected override nextFrame(): WireFrame | undefined {
    const frames = this.sealed.map((block) => streamFrame("blocks", block));
    this.sealed = [];
    return frames.length === 0 ? undefined : Buffer.concat(frames);
  }

  protected override discard(): void {
    this.sealed = [];
  }
}
