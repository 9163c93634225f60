/** The unsigned requests that are kept, by position. */
import { REQUEST_KEPT_MS } from "../config.js";
import type { VenueState } from "../state/venue.js";
import { type ByteReader, BytesUnreadable, type ByteWriter } from "./bytes.js";

const ID = /^[0-9a-f]{32}$/;

export function writeRequests(w: ByteWriter, s: VenueState): void {
  const kept = s.requests.entries(s.timeMs);
  w.number(kept.length);
  for (const { id, position, timeMs, words } of kept) {
    w.text(id);
    w.numbers([position, timeMs, ...words]);
  }
}

export function readRequests(r: ByteReader, s: VenueState): void {
  let last = 0;
  r.repeat(() => {
    const id = r.text();
    const [position = 0, timeMs = 0, ...words] = r.numbers();
    const isNext = position > last && position <= s.seq && Number.isSafeInteger(position);
    const isYoung = timeMs <= s.timeMs && timeMs + REQUEST_KEPT_MS > s.timeMs;
    if (!isNext || !isYoung || !ID.test(id) || s.requests.get(id, s.timeMs) !== undefined) {
      throw new BytesUnreadable("a request that is kept is damaged");
    }
    last = position;
    s.requests.keep({ id, position, timeMs, words: Float64Array.from(words) });
  });
}
