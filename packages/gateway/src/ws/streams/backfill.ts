/**
 * Resuming a private stream: sends the changes after `reader.seq` from the history, then goes live.
 *
 *   1. read a page of changes after `reader.seq`
 *   2. send it while the socket has room; set `reader.seq` to the last seq sent
 *   3. if the page was the last and was sent completely, call `goLive` in the same turn
 *   4. otherwise wait for room and for one turn of the event loop, then go to 1
 *
 * New changes need no buffer: they are in the history, and the last page ends at the present. Steps 1
 * to 3 run without an await, so no command is applied between reading the last page and going live.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Venue } from "@perpgate/venue";
import { COST } from "../../limits/costs.js";
import type { AccountReader } from "./account-feed.js";
import { isOfStream, updateFrame } from "./private-frames.js";

const PAGE_ROWS = 256;

export async function backfill(
  venue: Venue,
  reader: AccountReader,
  goLive: () => void,
): Promise<void> {
  for (let limit = PAGE_ROWS; !reader.isEnded; ) {
    const page = venue.views.changesSince(reader.account, reader.seq, limit);
    reader.connection.charge(COST.historyRow * (page.length + 1));
    reader.connection.counts.backfilledRows += page.length;
    const isLast = page.length < limit;
    const end = isLast ? venue.seq : lastCompleteSeq(page);
    if (end === undefined) {
      // One command fills the page: a command's rows are sent in one frame or not at all.
      limit *= 2;
      continue;
    }
    reader.seq = sendPage(venue, reader, page, end);
    if (isLast && reader.seq === end) {
      goLive();
      return;
    }
    await reader.connection.room();
    await nextTurn();
  }
}

interface PageRow {
  readonly seq: number;
  readonly row: Float64Array;
}

/** The last seq of a full page whose rows are certain to be complete. */
function lastCompleteSeq(page: readonly PageRow[]): number | undefined {
  const cut = page.at(-1)?.seq;
  return page.findLast(({ seq }) => seq !== cut)?.seq;
}

/** Returns the seq up to which everything is sent: `end`, or less for want of room. */
function sendPage(
  { views }: Venue,
  { connection, stream, account }: AccountReader,
  page: readonly PageRow[],
  end: number,
): number {
  const own = page.filter(({ seq, row }) => seq <= end && isOfStream(row, stream));
  for (let from = 0; from < own.length; ) {
    const { seq } = own[from]!;
    if (!connection.hasRoom) return seq - 1;
    let to = from;
    while (to < own.length && own[to]!.seq === seq) to++;
    const rows = own.slice(from, to).map(({ row }) => row);
    connection.send(updateFrame(views, stream, account, seq, rows));
    from = to;
  }
  return end;
}
