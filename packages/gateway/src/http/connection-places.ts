/**
 * The places for connections, and who leaves when they are taken.
 *
 * A tenth of the places is kept for addresses with a live session, a few for each. When the others are
 * taken, a newcomer gets the place of the first of these that there is:
 *
 *   1. the connection that has waited longest, and at least `MAX_REQUEST_MS`, without a complete request;
 *   2. the one that is idle longest since its last answer, unless it is protected: of an address that has a
 *      live session and no more than `KEPT_PER_ADDRESS` connections;
 *   3. the oldest that has not sent a complete request yet;
 *   4. for an address with a live session only, the protected one that is idle longest.
 *
 * Holding places thus needs work, which is charged. If no connection can leave, the newcomer is refused. What
 * was refused and closed is counted, and logged once in ten seconds.
 */

export interface PlaceHolder {
  /** Of an address whose idle connections stay while strangers look for a place. */
  readonly isProtected: boolean;
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
  /** Without a complete request, oldest first, with the time since when. */
  private readonly silent = new Map<PlaceHolder, number>();
  /** Answered, longest idle first. */
  private readonly idle = new Set<PlaceHolder>();
  /** Likewise; were protected when a place was looked for among `idle`. */
  private readonly protectedIdle = new Set<PlaceHolder>();
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

  /** Whether there is a place; `isKnown`: for an address with a live session. */
  hasRoom(isKnown: boolean): boolean {
    if (this.taken < (isKnown ? this.places : this.unkept) || this.evictOne(isKnown)) return true;
    this.refused++;
    this.events.onRefused();
    this.logLater();
    return false;
  }

  add(holder: PlaceHolder): void {
    this.holders.add(holder);
    this.silent.set(holder, this.nowMs());
  }

  /** It has sent the headers of a request, or has become a socket. */
  onRequest(holder: PlaceHolder): void {
    this.silent.delete(holder);
    this.idle.delete(holder);
    this.protectedIdle.delete(holder);
  }

  /** The body of its request is awaited. */
  onBodyAwaited(holder: PlaceHolder): void {
    if (this.holders.has(holder)) this.silent.set(holder, this.nowMs());
  }

  /** The body is there, or is awaited no more. */
  onBodyEnded(holder: PlaceHolder): void {
    this.silent.delete(holder);
  }

  /** It has its answer. */
  onIdle(holder: PlaceHolder): void {
    if (this.holders.has(holder)) this.idle.add(holder);
  }

  delete(holder: PlaceHolder): void {
    this.holders.delete(holder);
    this.onRequest(holder);
  }

  private evictOne(isKnown: boolean): boolean {
    const [[silent, sinceMs] = []] = this.silent;
    const isOverdue = sinceMs !== undefined && this.nowMs() - sinceMs >= MAX_REQUEST_MS;
    const holder = isOverdue
      ? silent
      : (this.firstUnprotected() ?? silent ?? this.firstProtected(isKnown));
    if (holder === undefined) return false;
    this.delete(holder);
    this.evicted++;
    this.events.onEvicted(holder === silent ? "silent" : "idle");
    this.logLater();
    holder.evict();
    return true;
  }

  private firstProtected(isKnown: boolean): PlaceHolder | undefined {
    const [longest] = this.protectedIdle;
    return isKnown ? longest : undefined;
  }

  private firstUnprotected(): PlaceHolder | undefined {
    for (const holder of this.idle) {
      if (!holder.isProtected) return holder;
      // Asked once only: 10,000 of them would take a millisecond for each newcomer.
      this.idle.delete(holder);
      this.protectedIdle.add(holder);
    }
    return undefined;
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
