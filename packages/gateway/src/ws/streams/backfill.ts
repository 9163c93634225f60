/**
 * Resuming private streams: sends the changes after `reader.seq` from the history, then goes live.
 *
 *   1. if the socket has no room, or its address is over budget, wait
 *   2. read a page of changes after `reader.seq`
 *   3. send it while the socket has room; set `reader.seq` to the last seq sent
 *   4. if the page was the last and was sent completely, call `goLive`
 *   5. otherwise go to the end of the queue
 *
 * All readers share one queue: together they read about `ROWS_PER_TURN` rows in a turn of the event loop,
 * a page each, in the order in which they came. So a thousand that reconnect delay each other and no order.
 *
 * New changes need no buffer: they are in the history, and the last page ends at the present. Steps 2 to 4
 * run in one turn, so no command is applied between reading the last page and going live.
 */

import type { RowWords, Venue } from "@perpgate/venue";
import { COST } from "../../limits/costs.js";
import type { AccountReader } from "./account-feed.js";
import { fillsFrame, isOfStream, type PrivateFrames } from "./private-frames.js";

export const PAGE_ROWS = 64;
export const ROWS_PER_TURN = 256;
/** Rows read besides a page, such as fills, after which the rest of the page waits for another turn. */
const MORE_ROWS_PER_PAGE = 256;
/** So that a frame of deposits costs what a computed response of its length does. */
const DEPOSIT_BYTES_PER_ROW = 341;

export interface BackfillEvents {
  /** Everything was sent. */
  goLive(reader: AccountReader): void;
  /** The history has dropped changes that the reader does not have: it was too slow. */
  onOvertaken(reader: AccountReader): void;
  fail(reader: AccountReader, error: unknown): void;
}

export class Backfills {
  /** Readers that wait for their turn, each with the rows of its next page. */
  private readonly queue = new Map<AccountReader, number>();
  /** Those in the queue, and those that wait for room. */
  private readonly active = new Set<AccountReader>();
  private turn: NodeJS.Immediate | undefined;

  constructor(
    private readonly venue: Venue,
    private readonly frames: PrivateFrames,
    private readonly events: BackfillEvents,
  ) {}

  begin(reader: AccountReader): void {
    const { counts } = reader.connection;
    counts.backfills++;
    counts.activeBackfills++;
    this.active.add(reader);
    this.enqueue(reader);
  }

  /** The reader has all, or wants no more. */
  end(reader: AccountReader): void {
    this.queue.delete(reader);
    if (this.active.delete(reader)) reader.connection.counts.activeBackfills--;
  }

  stop(): void {
    clearImmediate(this.turn);
    for (const reader of this.active) this.end(reader);
  }

  private enqueue(reader: AccountReader, pageRows = PAGE_ROWS): void {
    if (!this.active.has(reader)) return;
    this.queue.set(reader, pageRows);
    this.turn ??= setImmediate(() => this.runTurn());
  }

  private runTurn(): void {
    let left = ROWS_PER_TURN;
    // Readers that this turn puts to the end of the queue are visited again while rows are left.
    for (const [reader, pageRows] of this.queue) {
      if (left <= 0) break;
      this.queue.delete(reader);
      try {
        left -= this.readPage(reader, pageRows);
      } catch (error) {
        this.end(reader);
        this.events.fail(reader, error);
      }
    }
    this.turn = this.queue.size === 0 ? undefined : setImmediate(() => this.runTurn());
  }

  /** Returns the rows that it has read. */
  private readPage(reader: AccountReader, pageRows: number): number {
    const { venue } = this;
    const { connection } = reader;
    if (!connection.hasRoom) {
      void connection.room().then(() => this.enqueue(reader, pageRows));
      return 0;
    }
    if (reader.seq + 1 < venue.views.changesFrom) {
      this.end(reader);
      this.events.onOvertaken(reader);
      return 1;
    }
    const page = venue.views.changesSince(reader.account, reader.seq, pageRows);
    connection.counts.backfilledRows += page.length;
    const isLast = page.length < pageRows;
    const end = isLast ? venue.seq : lastCompleteSeq(page);
    // One for the search of the page.
    let rows = page.length + 1;
    connection.charge(COST.historyRow * rows);
    if (end === undefined) {
      // One command fills the page: a command's rows are sent in one frame or not at all.
      this.enqueue(reader, 2 * pageRows);
      return rows;
    }
    const sent = sendPage(venue, this.frames, reader, page, end);
    rows += sent.rows;
    reader.seq = sent.seq;
    if (isLast && sent.seq === end) {
      this.end(reader);
      this.events.goLive(reader);
    } else this.enqueue(reader);
    return rows;
  }
}

interface PageRow {
  readonly seq: number;
  readonly row: RowWords;
}

/** The last seq of a full page whose rows are certain to be complete. */
function lastCompleteSeq(page: readonly PageRow[]): number | undefined {
  const cut = page.at(-1)?.seq;
  return page.findLast(({ seq }) => seq !== cut)?.seq;
}

/**
 * Returns the seq up to which everything is sent, `end` or less for want of room or after
 * `MORE_ROWS_PER_PAGE`, and the rows that were read besides the page.
 *
 * A page that is paid for is sent even if it has used up the budget: the next one waits for the debt. The
 * first frame is sent in any case, so a reader with room makes progress.
 */
function sendPage(
  { views }: Venue,
  frames: PrivateFrames,
  { connection, stream, account }: AccountReader,
  page: readonly PageRow[],
  end: number,
): { readonly seq: number; readonly rows: number } {
  const own = page.filter(({ seq, row }) => seq <= end && isOfStream(row, stream));
  let rows = 0;
  const count = (read: number): void => {
    connection.charge(COST.historyRow * read);
    rows += read;
  };
  for (let from = 0; from < own.length; ) {
    const { seq } = own[from]!;
    const isFull = !connection.hasBufferRoom || rows >= MORE_ROWS_PER_PAGE;
    if (from > 0 && isFull) return { seq: seq - 1, rows };
    let to = from;
    while (to < own.length && own[to]!.seq === seq) to++;
    if (stream === "fills") {
      const fills = views.fillsAt(account, seq);
      count(fills.length + 1);
      connection.send(fillsFrame(seq, fills));
    } else {
      if (stream === "preconfirms") count(to - from);
      const changed = own.slice(from, to).map(({ row }) => row);
      const frame = frames.update(stream, account, seq, changed);
      // A row of a deposit may stand for a thousand credits.
      if (stream === "deposits") count(Math.floor(frame.length / DEPOSIT_BYTES_PER_ROW));
      connection.send(frame);
    }
    from = to;
  }
  return { seq: end, rows };
}
