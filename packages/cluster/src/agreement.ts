/**
 * Who of the writers heard in the last five seconds has the same log and blocks as this gateway.
 *
 * A writer that agrees counts while it is live. A writer that disagrees always counts: after a
 * restored stream it may be one that this gateway never saw joining. Ages are measured by the
 * servers' time of the messages, so that reading old messages quickly does not make them recent. After
 * a step back of that time, with another leader of the stream, the local time between the two messages
 * counts.
 */

const HEARD_MS = 5000;

/** One writer's view, as its last message showed it. */
export interface WriterView {
  readonly writer: string;
  readonly agrees: boolean;
  /** Milliseconds since its last message. */
  readonly ageMs: number;
}

export interface Count {
  /** This gateway included. */
  readonly agree: number;
  readonly disagree: number;
}

interface Heard {
  /** As `elapsedMs`. */
  readonly atMs: number;
  readonly agrees: boolean;
}

export class Agreement {
  private readonly heard = new Map<string, Heard>();
  /** Time of the last message, and the local time at which it arrived. */
  private lastMs = 0;
  private lastArrivalMs = 0;
  /** Time between the messages so far. */
  private elapsedMs = 0;

  constructor(private readonly nowMs: () => number) {}

  /** `agrees` is undefined when the message shows nothing new about its writer's view. */
  hear(writer: string, agrees: boolean | undefined, atMs: number): void {
    const arrivalMs = this.nowMs();
    const passedMs = atMs < this.lastMs ? arrivalMs - this.lastArrivalMs : atMs - this.lastMs;
    this.elapsedMs += Math.max(0, passedMs);
    this.lastMs = atMs;
    this.lastArrivalMs = arrivalMs;
    const known = this.heard.get(writer);
    this.heard.set(writer, { atMs: this.elapsedMs, agrees: agrees ?? known?.agrees ?? true });
  }

  /** Also forgets writers that were not heard in time. */
  views(): WriterView[] {
    const now = this.elapsedMs + Math.max(0, this.nowMs() - this.lastArrivalMs);
    const views: WriterView[] = [];
    for (const [writer, { atMs, agrees }] of this.heard) {
      const ageMs = now - atMs;
      if (ageMs > HEARD_MS) this.heard.delete(writer);
      else views.push({ writer, agrees, ageMs });
    }
    return views;
  }

  count(own: string | undefined, isLive: (writer: string) => boolean): Count {
    const others = this.views().filter(({ writer }) => writer !== own);
    return {
      agree: 1 + others.filter(({ writer, agrees }) => agrees && isLive(writer)).length,
      disagree: others.filter(({ agrees }) => !agrees).length,
    };
  }
}

export const isMajority = ({ agree, disagree }: Count): boolean => agree > disagree;
