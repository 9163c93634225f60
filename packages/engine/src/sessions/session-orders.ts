/** Which open orders a session placed: an account may have several sessions at once. */
import { openOrderIds } from "../matching/cancel-all.js";
import { ORDER } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import type { Session } from "./session-book.js";

/** Their ids, ascending, in all markets. */
export function orderIdsOfSession(s: VenueState, { account, number }: Session): number[] {
  return openOrderIds(s, account, (at) => s.orders.table.data[at + ORDER.SESSION] === number);
}
