/**
 * Whether the stream may be another one than the reader has read: its servers may have been restored from
 * an older copy, and the lost places filled again, so that nothing that follows need contradict what was
 * read. While there is a doubt, nothing is accepted. It ends when the stream's leader has the message read
 * last, compared by content and time. Other servers do not count: one that was not restored still has what
 * the stream has lost.
 *
 * The reader raises a doubt after a silence. A message that is read late hides one; the times at which the
 * messages were stored do not. So a message stored 300 ms or more after, or before, the one read last is a
 * doubt too (before: by a leader with another clock), unless the leader has confirmed the one read last
 * since this message arrived, or moments ago.
 */

import type { NatsConnection } from "@nats-io/transport-node";
import type { Incoming } from "./incoming.js";
import { storedMessage } from "./jetstream-api.js";

export const SILENCE_MS = 300;
/** Between two questions for the message read last, while there is no answer. */
const ASK_PAUSE_MS = 250;

/** The leader had the message read last. */
interface Confirmation {
  readonly sequence: number;
  readonly askedAtMs: number;
  /** The message that had made the question necessary, if one had. */
  readonly cause: Incoming | undefined;
}

export type ReaderDoubt = Pick<
  Doubt,
  "isOpen" | "tick" | "read" | "raise" | "isApart" | "compare" | "ask"
>;

export const NO_DOUBT: ReaderDoubt = {
  isOpen: false,
  tick: () => undefined,
  read: () => undefined,
  raise: () => undefined,
  isApart: () => false,
  compare: () => undefined,
  ask: () => Promise.resolve(false),
};

export class Doubt {
  /** Whether the leader must first show that the stream still has the message read last. */
  isOpen = false;
  /** The message read last; undefined before the first. */
  private lastRead: Incoming | undefined;
  /** Counts the reasons: an answer holds for the reason that it was asked for. */
  private raised = 0;
  private cause: Incoming | undefined;
  private confirmation: Confirmation | undefined;
  private sinceAskMs = 0;

  constructor(
    private readonly stream: string,
    private readonly nowMs: () => number,
    /** The stream has another message at this sequence than was read. */
    private readonly onContradiction: (sequence: number) => void,
  ) {}

  tick(elapsedMs: number): void {
    this.sinceAskMs += elapsedMs;
  }

  read(message: Incoming): void {
    this.lastRead = message;
  }

  raise(cause?: Incoming): void {
    if (this.lastRead === undefined) return;
    this.isOpen = true;
    this.raised++;
    this.cause = cause;
    this.sinceAskMs = ASK_PAUSE_MS;
  }

  /** Whether there is a silence between the message and the one read last that nobody has looked into. */
  isApart(message: Incoming): boolean {
    const { lastRead, confirmation } = this;
    if (lastRead === undefined) return false;
    if (Math.abs(message.storedMs - lastRead.storedMs) < SILENCE_MS) return false;
    if (confirmation?.sequence !== lastRead.sequence) return true;
    const { askedAtMs, cause } = confirmation;
    if (cause !== undefined && isSame(message, cause)) return false;
    return this.nowMs() - askedAtMs >= SILENCE_MS;
  }

  /** Compares what the stream has at the sequence read last. */
  compare(message: Incoming): void {
    const { lastRead } = this;
    if (lastRead === undefined || isSame(message, lastRead)) return;
    this.onContradiction(message.sequence);
  }

  /**
   * Asks the leader for the message read last, if it was not asked lately. Returns whether its answer has
   * ended the doubt; `onAnswer` is called first, and may raise another one.
   */
  async ask(connection: NatsConnection, onAnswer: () => void): Promise<boolean> {
    const { raised, cause, lastRead } = this;
    if (this.sinceAskMs < ASK_PAUSE_MS || lastRead === undefined) return false;
    this.sinceAskMs = 0;
    const { sequence } = lastRead;
    const askedAtMs = this.nowMs();
    try {
      const stored = await storedMessage(connection, this.stream, sequence);
      onAnswer();
      // Undefined: a leader that has not applied everything yet, or a stream that has lost its end.
      if (stored === undefined || raised !== this.raised || !this.isOpen) return false;
      this.isOpen = false;
      this.confirmation = { sequence, askedAtMs, cause };
      this.compare(stored);
      return true;
    } catch {
      // No leader, or no answer: asked again.
      return false;
    }
  }
}

function isSame(one: Incoming, other: Incoming): boolean {
  return (
    one.sequence === other.sequence &&
    one.storedMs === other.storedMs &&
    one.subject === other.subject &&
    Buffer.compare(one.data, other.data) === 0
  );
}
