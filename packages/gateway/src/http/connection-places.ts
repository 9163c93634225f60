/**
 * The places for connections, and who leaves when they are taken.
 *
 * A tenth of the places is kept for addresses with a live session, a few for each. When the others are
 * taken, a newcomer gets the place of the connection that has waited longest, and at least `MAX_REQUEST_MS`,
 * without sending a request; if there is none, of the one that has been idle longest since its last answer
 * and whose address has no live session; then of the oldest that has not sent a request yet. Holding places
 * thus needs work, which is charged. If no connection can leave, the newcomer is refused. What was refused
 * and closed is counted, and logged once in ten seconds.
 */

export interface PlaceHolder {
  /** Closes the connection immediately. */
  evict(): void;
}

export type Evicted = "silent" | "idle";

interface PlaceEvents {
  onRefused(): void;
  onEvicted(why: Evicted): void;
}

export interface PlaceLog {
  warn(fields: object, message: string): void;
}

const KEPT_SHARE = 0.1;
/** Connections of one address, past which it does not get a place that is kept. */
export const KEPT_PER_ADDRESS = 16;
/** A client that has just connected sends its request within this time. */
export const MAX_REQUEST_MS = 1_000;
const LOG_MS = 10_000;

export class ConnectionPlaces {
  private readonly holders = new Set<PlaceHolder>();
  /** Without a request so far, oldest first, with the time since when. */
  private readonly silent = new Map<PlaceHolder, number>();
  /** Answered, of addresses without a live session, longest idle first. */
  private readonly idle = new Set<PlaceHolder>();
  private readonly unkept: number;
  private refused = 0;
  private evicted = 0;
  private logging: NodeJS.Timeout | undefined;

  constructor(
    private readonly places: number,
    private readonly events: PlaceEvents,
    private readonly log: PlaceLog,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.unkept = places - Math.floor(places * KEPT_SHARE);
  }

  get taken(): number {
    return this.holders.size;
  }

  /** Whether there is a place; `mayUseKept`: also one that is kept for addresses with a live session. */
  hasRoom(mayUseKept: boolean): boolean {
    if (this.taken < (mayUseKept ? this.places : this.unkept) || this.evictOne()) return true;
    this.refused++;
    this.events.onRefused();
    this.logLater();
    return false;
  }

  add(holder: PlaceHolder): void {
    this.holders.add(holder);
    this.silent.set(holder, this.nowMs());
  }

  /** It has sent a request, or has become a socket. */
  onRequest(holder: PlaceHolder): void {
    this.silent.delete(holder);
    this.idle.delete(holder);
  }

  /** It has its answer, and its address has no live session. */
  onIdle(holder: PlaceHolder): void {
    if (this.holders.has(holder)) this.idle.add(holder);
  }

  delete(holder: PlaceHolder): void {
    this.holders.delete(holder);
    this.onRequest(holder);
  }

  private evictOne(): boolean {
    const [[silent, sinceMs] = []] = this.silent;
    const [idle] = this.idle;
    const isOverdue = sinceMs !== undefined && this.nowMs() - sinceMs >= MAX_REQUEST_MS;
    const holder = isOverdue ? silent : (idle ?? silent);
    if (holder === undefined) return false;
    this.delete(holder);
    this.evicted++;
    this.events.onEvicted(holder === silent ? "silent" : "idle");
    this.logLater();
    holder.evict();
    return true;
  }

  private logLater(): void {
    this.logging ??= setTimeout(() => {
      const { refused, evicted, taken, places } = this;
      this.logging = undefined;
      this.refused = 0;
      this.evicted = 0;
      this.log.warn({ refused, evicted, taken, places }, "connections find no place");
    }, LOG_MS).unref();
  }
}
