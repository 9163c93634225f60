/**
 * The private streams: `preconfirms`, `orders`, `positions`, `fills`, `account`, `deposits`.
 *
 * A reader is a cursor, `AccountReader.seq`, into its account's changes, which the history stores by log
 * seq. A reader that resumes gets the history first (`backfill.ts`) and goes live in the turn in which it
 * reaches the present, so nothing is missed or repeated. From then on:
 *
 *   1. `onCommand`, inside the apply callback, appends the changed rows of live accounts to `pending`
 *   2. `flush`, in the next turn, after the acknowledgements of the orders, encodes one frame per
 *      stream and sends it to each reader with `reader.seq < entry.seq`, then sets `reader.seq`
 *
 * No frame may be left out. If one cannot be encoded, the sockets that would miss it are closed before
 * any later frame is sent, and resume from the last seq they have.
 */

import type { PrivateStream } from "@perpgate/protocol";
import type { RowWords, Venue } from "@perpgate/venue";
import { COST } from "../../limits/costs.js";
import { CLOSE } from "../close-codes.js";
import type { Connection } from "../connection.js";
import type { WireFrame } from "../wire-frame.js";
import { Backfills } from "./backfill.js";
import { gapFrame, isOfStream, PrivateFrames } from "./private-frames.js";

export interface AccountReader {
  readonly connection: Connection;
  readonly stream: PrivateStream;
  readonly account: number;
  /** Everything up to this log seq was sent. */
  seq: number;
  isEnded: boolean;
}

interface PendingChange {
  readonly account: number;
  readonly seq: number;
  readonly rows: readonly RowWords[];
}

export class AccountFeed {
  /** Live readers by account. */
  private readonly live = new Map<number, Set<AccountReader>>();
  /** Changes applied and not yet sent, in log order. */
  private pending: PendingChange[] = [];
  private turn: NodeJS.Immediate | undefined;
  private readonly frames: PrivateFrames;
  private readonly backfills: Backfills;

  constructor(
    private readonly venue: Venue,
    private readonly onFault: (error: unknown) => void,
  ) {
    this.frames = new PrivateFrames(venue);
    this.backfills = new Backfills(venue, this.frames, {
      goLive: (reader) => this.goLive(reader),
      onOvertaken: (reader) => this.beginAfterGap(reader, reader.seq),
      fail: (reader, error) => this.fail([reader], error),
    });
  }

  /** Live streams; those that still resume are not counted. */
  get readerCount(): number {
    let count = 0;
    for (const readers of this.live.values()) count += readers.size;
    return count;
  }

  /** Starts sending; returns a function that stops it. */
  open(
    connection: Connection,
    stream: PrivateStream,
    account: number,
    since: number | undefined,
  ): () => void {
    const { seq, views } = this.venue;
    const reader: AccountReader = { connection, stream, account, seq, isEnded: false };
    if (since === undefined) this.beginWithState(reader);
    else if (since <= seq && since + 1 >= views.changesFrom) {
      reader.seq = since;
      this.backfills.begin(reader);
    } else this.beginAfterGap(reader, since);
    return () => this.end(reader);
  }

  /**
   * `since` is before the outbox begins, or beyond the end: then it belongs to another log, or to one that
   * lost its end.
   */
  private beginAfterGap(reader: AccountReader, since: number): void {
    const { connection, stream } = reader;
    reader.seq = this.venue.seq;
    connection.counts.gaps++;
    connection.send(gapFrame(stream, since, reader.seq));
    this.beginWithState(reader);
  }

  private beginWithState(reader: AccountReader): void {
    const { connection, stream, account, seq } = reader;
    const state = this.frames.state(stream, account, seq);
    if (state !== undefined) {
      connection.charge(COST.historyRow * state.rows);
      connection.send(state.frame);
    }
    this.goLive(reader);
  }

  /** Runs inside the apply callback; must not throw. */
  onCommand(seq: number): void {
    if (this.live.size === 0) return;
    try {
      this.collect(seq);
    } catch (error) {
      // The account is unknown, so every live reader may miss a frame.
      this.fail(
        [...this.live.values()].flatMap((readers) => [...readers]),
        error,
      );
    }
  }

  stop(): void {
    clearImmediate(this.turn);
    this.pending = [];
    this.backfills.stop();
  }

  private collect(seq: number): void {
    const byAccount = new Map<number, RowWords[]>();
    for (const { account, row } of this.venue.views.lastChanges) {
      if (!this.live.has(account)) continue;
      const rows = byAccount.get(account);
      if (rows === undefined) byAccount.set(account, [row]);
      else rows.push(row);
    }
    if (byAccount.size === 0) return;
    for (const [account, rows] of byAccount) this.pending.push({ account, seq, rows });
    this.turn ??= setImmediate(() => this.flush());
  }

  private flush(): void {
    this.turn = undefined;
    const { pending } = this;
    this.pending = [];
    for (const entry of pending) {
      const readers = this.live.get(entry.account);
      if (readers === undefined) continue;
      try {
        this.send(entry, readers);
      } catch (error) {
        this.fail(
          [...readers].filter(({ seq }) => seq < entry.seq),
          error,
        );
      }
    }
  }

  private send(entry: PendingChange, readers: ReadonlySet<AccountReader>): void {
    // All frames are encoded before the first is sent: a command goes to every stream or to none.
    const frames = this.framesFor(entry, readers);
    for (const reader of readers) {
      // It went live after this command, which its history or snapshot includes.
      if (reader.seq >= entry.seq) continue;
      reader.seq = entry.seq;
      const frame = frames.get(reader.stream);
      if (frame === undefined) continue;
      // A command has frames on several streams, and a batch of the log has many commands.
      reader.connection.corkUntilNextTick();
      reader.connection.send(frame);
    }
  }

  /** One frame per stream that has a reader and a change. */
  private framesFor(
    { account, seq, rows }: PendingChange,
    readers: ReadonlySet<AccountReader>,
  ): ReadonlyMap<PrivateStream, WireFrame> {
    const frames = new Map<PrivateStream, WireFrame>();
    const streams = new Set<PrivateStream>();
    for (const reader of readers) if (reader.seq < seq) streams.add(reader.stream);
    for (const stream of streams) {
      const own = rows.filter((row) => isOfStream(row, stream));
      if (own.length === 0) continue;
      frames.set(stream, this.frames.update(stream, account, seq, own));
    }
    return frames;
  }

  /** Closes the sockets of readers that would miss a frame. */
  private fail(readers: readonly AccountReader[], error: unknown): void {
    this.onFault(error);
    for (const reader of readers) {
      this.end(reader);
      reader.connection.close(CLOSE.internalError);
    }
  }

  private goLive(reader: AccountReader): void {
    if (reader.isEnded) return;
    const readers = this.live.get(reader.account);
    if (readers === undefined) this.live.set(reader.account, new Set([reader]));
    else readers.add(reader);
  }

  private end(reader: AccountReader): void {
    reader.isEnded = true;
    this.backfills.end(reader);
    const readers = this.live.get(reader.account);
    if (readers?.delete(reader) === true && readers.size === 0) this.live.delete(reader.account);
  }
}
