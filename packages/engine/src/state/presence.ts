/**
 * Where sessions are connected: for each session one bit per writer, by the writer's place. Changes
 * have no undo: they are the last step of a command.
 */
import { type IdIndex, NONE } from "./id-index.js";
import { Int32Segments } from "./segments.js";

/** Places of live writers, from 0; a place is free again once its writer has ended. */
export const WRITER_PLACES = 64;
const BITS = 32;

/** A set of places. */
export class Places {
  low = 0;
  high = 0;

  add(place: number): void {
    if (place < BITS) this.low |= 1 << place;
    else this.high |= 1 << (place - BITS);
  }
}

export class Presence {
  private readonly low = new Int32Segments();
  private readonly high = new Int32Segments();
  private readonly counts = new Int32Array(WRITER_PLACES);
  /** No session of a later row was ever connected. */
  private rows = 0;

  /** `rowOf`: the rows of live sessions. */
  constructor(private readonly rowOf: IdIndex) {}

  /** Sessions that are connected at the place. */
  countAt(place: number): number {
    return this.counts[place]!;
  }

  isConnected(session: number): boolean {
    const row = this.rowOf.get(session);
    return row !== NONE && (this.low.get(row) !== 0 || this.high.get(row) !== 0);
  }

  isAt(session: number, place: number): boolean {
    const row = this.rowOf.get(session);
    return row !== NONE && this.hasBit(row, place);
  }

  /** Whether the session is connected at one of the places, and nowhere else. */
  isOnlyAt(session: number, places: Places): boolean {
    const row = this.rowOf.get(session);
    return row !== NONE && this.rowIsOnlyAt(row, places);
  }

  /** The same, of the session of a row. */
  rowIsOnlyAt(row: number, places: Places): boolean {
    const low = this.low.get(row);
    const high = this.high.get(row);
    return (low | high) !== 0 && (low & ~places.low) === 0 && (high & ~places.high) === 0;
  }

  /** The session must be live. */
  connect(session: number, place: number): void {
    const row = this.rowOf.get(session);
    if (this.hasBit(row, place)) return;
    this.flip(row, place);
    this.counts[place]!++;
    this.rows = Math.max(this.rows, row + 1);
  }

  disconnect(session: number, place: number): void {
    const row = this.rowOf.get(session);
    if (row !== NONE) this.disconnectRow(row, place);
  }

  /** The session of the row has ended, and its connections with it. */
  forget(row: number): void {
    if (this.low.get(row) === 0 && this.high.get(row) === 0) return;
    for (let place = 0; place < WRITER_PLACES; place++) this.disconnectRow(row, place);
  }

  /** Every session that is connected is connected at this place alone. */
  gather(place: number): void {
    let sessions = 0;
    for (let row = 0; row < this.rows; row++) {
      if (this.low.get(row) === 0 && this.high.get(row) === 0) continue;
      this.low.set(row, place < BITS ? 1 << place : 0);
      this.high.set(row, place < BITS ? 0 : 1 << (place - BITS));
      sessions++;
    }
    this.counts.fill(0);
    this.counts[place] = sessions;
  }

  /** No session is connected at the place any more. */
  clear(place: number): void {
    for (let row = 0; row < this.rows && this.counts[place] !== 0; row++) {
      this.disconnectRow(row, place);
    }
  }

  private disconnectRow(row: number, place: number): void {
    if (!this.hasBit(row, place)) return;
    this.flip(row, place);
    this.counts[place]!--;
  }

  private hasBit(row: number, place: number): boolean {
    const word = place < BITS ? this.low.get(row) : this.high.get(row);
    return ((word >>> (place % BITS)) & 1) === 1;
  }

  private flip(row: number, place: number): void {
    const words = place < BITS ? this.low : this.high;
    words.set(row, words.get(row) ^ (1 << (place % BITS)));
  }
}
