/**
 * What readers of private streams ask the core for when they begin or resume: the state, or pages of
 * changes. A reader has at most one request in flight, all of them together `MAX_IN_FLIGHT`; the others
 * wait in a queue. A resumption asks for no page while its socket has no room for it, or its address is
 * over budget.
 */

import type { AnswerBodies, CoreAccess, CoreAnswer, Notes } from "@perpgate/link";
import type { PrivateStreamName } from "@perpgate/protocol";
import { COST } from "../../limits/costs.js";
import type { ClientSocket } from "../connection.js";

export interface PrivateStreamReader {
  readonly connection: ClientSocket;
  readonly stream: PrivateStreamName;
  readonly session: number;
  readonly account: number;
  /** Everything up to this log seq was sent; undefined: nothing yet, and it begins with the state. */
  seq: number | undefined;
  /** Whether the client named the seq. */
  readonly isResumed: boolean;
  isEnded: boolean;
}

const MAX_IN_FLIGHT = 64;

interface ReadEvents {
  /** Sends what was read; returns whether the reader needs another page. */
  take(reader: PrivateStreamReader, answer: AnswerBodies["readStream"]): boolean;
  /** The core has refused the read, or `take` has failed. */
  fail(reader: PrivateStreamReader, error: unknown): void;
}

export class StreamReads {
  private readonly queue = new Set<PrivateStreamReader>();
  /** Those in the queue, and those that wait for room or for the core: whether they got a page. */
  private readonly active = new Map<PrivateStreamReader, boolean>();
  private inFlight = 0;
  private turn: NodeJS.Immediate | undefined;

  constructor(
    private readonly link: CoreAccess,
    private readonly events: ReadEvents,
  ) {}

  begin(reader: PrivateStreamReader): void {
    if (reader.isResumed) reader.connection.counts.activeBackfills++;
    this.active.set(reader, false);
    this.enqueue(reader);
  }

  /** The reader has all, or wants no more. */
  end(reader: PrivateStreamReader): void {
    this.queue.delete(reader);
    if (!this.active.delete(reader) || !reader.isResumed) return;
    reader.connection.counts.activeBackfills--;
  }

  stop(): void {
    clearImmediate(this.turn);
    for (const reader of this.active.keys()) this.end(reader);
  }

  private enqueue(reader: PrivateStreamReader): void {
    if (!this.active.has(reader)) return;
    this.queue.add(reader);
    this.turn ??= setImmediate(() => this.runTurn());
  }

  private runTurn(): void {
    this.turn = undefined;
    for (const reader of this.queue) {
      if (this.inFlight >= MAX_IN_FLIGHT) return;
      this.queue.delete(reader);
      const { connection, isResumed } = reader;
      if (isResumed && !connection.hasRoom) void connection.room().then(() => this.enqueue(reader));
      else this.read(reader);
    }
  }

  /** What the core sends after the answer may come with it, so the answer is taken in its own frame. */
  private read(reader: PrivateStreamReader): void {
    const { session, stream, seq: since, connection, isResumed } = reader;
    const isActive = () => this.active.has(reader);
    const onNotes = ({ rows }: Notes) => {
      connection.charge(COST.historyRow * rows);
      if (isResumed && isActive()) connection.counts.backfilledRows += rows;
    };
    const over = (problem?: unknown) => {
      this.inFlight--;
      if (problem !== undefined && isActive()) this.events.fail(reader, problem);
      if (this.queue.size > 0) this.turn ??= setImmediate(() => this.runTurn());
    };
    const outcome: CoreAnswer<"readStream"> = {
      answered: (answer, notes) => {
        onNotes(notes);
        try {
          this.take(reader, answer);
          over();
        } catch (error) {
          over(error);
        }
      },
      refused: (error, notes) => {
        if (notes !== undefined) onNotes(notes);
        over(error);
      },
    };
    this.inFlight++;
    try {
      this.link.ask("readStream", { session, stream, since }, outcome);
    } catch (error) {
      over(error);
    }
  }

  private take(reader: PrivateStreamReader, answer: AnswerBodies["readStream"]): void {
    const hasPage = this.active.get(reader);
    if (hasPage === undefined) return;
    // A gap is counted as one: nothing was resumed.
    if (reader.isResumed && !hasPage && !answer.isGap) reader.connection.counts.backfills++;
    this.active.set(reader, true);
    if (this.events.take(reader, answer)) this.enqueue(reader);
    else this.end(reader);
  }
}
