/**
 * From `since` to the present: the changes that a reader has missed, page by page from the history.
 *
 * A page is read and written in one turn, as far as the socket has room; what is left of it, or the
 * next one, waits until there is room again and the event loop has had its turn, so however long the
 * absence was, neither memory nor orders feel it. Nothing has to be buffered meanwhile: what happens
 * is in the history too, and the last page ends at the present. The reader goes live in that very
 * turn.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Venue } from "@perpgate/venue";
import { COST } from "../../limits/costs.js";
import type { AccountReader } from "./account-feed.js";
import { streamOfRow, updateFrame } from "./private-frames.js";

const PAGE_ROWS = 256;

export async function backfill(
  venue: Venue,
  reader: AccountReader,
  goLive: () => void,
): Promise<void> {
  for (let limit = PAGE_ROWS; !reader.isEnded; ) {
    const page = venue.views.changesSince(reader.account, reader.seq, limit);
    reader.connection.charge(COST.historyRow * (page.length + 1));
    const isLast = page.length < limit;
    const end = isLast ? venue.position : wholeUntil(page);
    if (end === undefined) {
      // One command alone fills the page: it is told whole or not at all.
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
  readonly position: number;
  readonly row: Float64Array;
}

/** The last position of a full page that is surely there to its last row. */
function wholeUntil(page: readonly PageRow[]): number | undefined {
  const cut = page.at(-1)?.position;
  return page.findLast(({ position }) => position !== cut)?.position;
}

/** Answers the position up to which everything is told: `end`, or less for want of room. */
function sendPage(
  { views }: Venue,
  { connection, stream }: AccountReader,
  page: readonly PageRow[],
  end: number,
): number {
  const own = page.filter(({ position, row }) => position <= end && streamOfRow(row) === stream);
  for (let from = 0; from < own.length; ) {
    const { position } = own[from]!;
    if (!connection.hasRoom) return position - 1;
    let to = from;
    while (to < own.length && own[to]!.position === position) to++;
    const rows = own.slice(from, to).map(({ row }) => row);
    connection.send(updateFrame(views, stream, position, rows));
    from = to;
  }
  return end;
}
