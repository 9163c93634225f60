/**
 * Reads the stream in order: accepts only the sequence last + 1, whatever the servers send, and nothing
 * while there is a doubt whether the stream is still the one that was read (`doubt.ts`).
 *
 * Near the end of the stream a push consumer delivers. The reader recovers when that consumer leaves
 * a gap, reports messages that did not arrive, or is silent for 300 ms (it sends a heartbeat every
 * 100 ms), and on every new connection: it fetches from last + 1 by direct gets, which any replica
 * answers, and creates a new consumer meanwhile. When only messages are missing for 300 ms, it fetches
 * once: the consumer's server may be cut off from the others and not know of new messages.
 *
 * There is a doubt after every silence, on every new connection, and after a pause of this process
 * (SIGSTOP, a machine that swaps): afterwards messages arrive that were sent during it, before any timer
 * runs. So the time is read at every message, and an answer to what was asked before the pause confirms
 * nothing. Far from the end of the stream the times of the messages raise no doubt: a history may have
 * thousands of gaps.
 *
 * Accepted messages are delivered a bounded number per turn of the event loop (`turns.ts`). Those that
 * wait are delivered only without a doubt: the leader's answer covers them, since the message read last
 * is the last of them. The next page is fetched when none waits.
 */

import type { NatsConnection } from "@nats-io/transport-node";
import { Consumer, type ConsumerEvents } from "./consumer.js";
import { Doubt, type ReaderDoubt, SILENCE_MS } from "./doubt.js";
import { Fetch } from "./fetch.js";
import type { Incoming } from "./incoming.js";
import { type TurnEvents, Turns } from "./turns.js";

/** A process that did not run for this long was paused; servers take longer to come back with a copy. */
const PAUSE_MS = 1000;
/** Between two fetches that found nothing while there is no consumer. */
const FETCH_PAUSE_MS = 20;
/** Between two attempts to create a consumer. */
const CREATE_PAUSE_MS = 250;
/** A consumer has no flow control: it is created when at most this many messages are missing. */
export const NEAR_END = 1000;

export interface ReaderEvents extends Pick<TurnEvents, "deliver" | "room" | "failed"> {
  /** The stream has another message at this sequence than was read. */
  contradicted(sequence: number): void;
}

export class Reader implements ConsumerEvents {
  /** Times that the consumer was replaced. */
  recoveries = 0;
  private connection: NatsConnection | undefined;
  private consumer: Consumer | undefined;
  private fetching: Fetch | undefined;
  private isRecovering = false;
  private isCreating = false;
  /** The last sequence that the newest fetch or the caller knew of. */
  private knownEnd = 0;
  private consumerSilentMs = 0;
  /** Since a message was accepted, or the one read last was confirmed. */
  private messageSilentMs = 0;
  private sinceFetchMs = 0;
  private sinceCreateMs = 0;
  private isClosed = false;
  /** Whether the next message was pushed and not accepted, during a doubt or with too many waiting. */
  private hasRefused = false;
  /** Accepted messages that are not delivered yet. */
  private readonly turns: Turns;
  /** Whether to fetch when every accepted message is delivered. */
  private isFetchDue = false;
  /** When this process was last seen to run. */
  private ranAtMs: number;

  constructor(
    private readonly stream: string,
    private lastSeq: number,
    private readonly events: ReaderEvents,
    private readonly nowMs: () => number = () => performance.now(),
    /** Of a log that one core writes there is none: each message names the one before it. */
    private readonly doubt: ReaderDoubt = new Doubt(stream, nowMs, (sequence) =>
      this.contradict(sequence),
    ),
  ) {
    this.ranAtMs = nowMs();
    this.turns = new Turns({
      deliver: (message) => events.deliver(message),
      room: () => events.room(),
      failed: (error) => events.failed(error),
      mayGoOn: () => {
        this.noticePause();
        return !this.doubt.isOpen;
      },
      drained: () => this.drained(),
    });
  }

  get last(): number {
    return this.lastSeq;
  }

  /** Whether accepted messages wait for their delivery. */
  get isDelivering(): boolean {
    return !this.turns.isEmpty;
  }

  /** The message at `last` as the leader had it: the first doubt compares with it. */
  continueAfter(message: Incoming): void {
    this.doubt.read(message);
  }

  /** Reads over a new connection; `behind`: how many messages are known to be missing. */
  attach(connection: NatsConnection, behind: number): void {
    this.detach();
    this.connection = connection;
    this.knownEnd = this.lastSeq + behind;
    this.doubt.raise();
    this.recover();
  }

  /** Ends reading from the current connection. */
  detach(): void {
    this.consumer = undefined;
    this.endFetch();
    this.connection = undefined;
  }

  tick(elapsedMs: number): void {
    const { connection } = this;
    if (connection === undefined || connection.isClosed() || this.isClosed) return;
    this.noticePause();
    this.consumerSilentMs += elapsedMs;
    this.messageSilentMs += elapsedMs;
    this.sinceFetchMs += elapsedMs;
    this.sinceCreateMs += elapsedMs;
    this.doubt.tick(elapsedMs);
    this.fetching?.tick(elapsedMs);
    const isSilent = this.messageSilentMs >= SILENCE_MS;
    if (isSilent && !this.doubt.isOpen) this.doubt.raise();
    if (this.isRecovering) this.step(connection);
    else if (this.consumerSilentMs >= SILENCE_MS) this.recover();
    else if (this.doubt.isOpen || (isSilent && this.sinceFetchMs >= SILENCE_MS)) {
      this.fetch(connection);
    }
  }

  close(): void {
    this.isClosed = true;
    this.turns.close();
    this.consumer?.remove();
    this.detach();
  }

  message(message: Incoming): void {
    this.noticePause();
    this.consumerSilentMs = 0;
    const isNext = message.sequence === this.lastSeq + 1;
    if (this.accept(message) || !isNext) return;
    this.hasRefused = true;
    this.isFetchDue = true;
  }

  heartbeat(pushedSeq: number): void {
    this.noticePause();
    this.consumerSilentMs = 0;
    if (pushedSeq > this.lastSeq && !this.hasRefused) this.recover();
  }

  private get isNearEnd(): boolean {
    return this.knownEnd - this.lastSeq <= NEAR_END;
  }

  /** Whether the message was the next one. */
  private accept(message: Incoming): boolean {
    if (this.isClosed) return false;
    const { doubt } = this;
    if (message.sequence > this.lastSeq + 1 && !this.hasRefused) this.recover();
    if (message.sequence === this.lastSeq) doubt.compare(message);
    if (message.sequence !== this.lastSeq + 1) return false;
    if (!doubt.isOpen && this.isNearEnd && doubt.isApart(message)) this.lookInto(message);
    if (doubt.isOpen || this.turns.isFull) return false;
    this.lastSeq = message.sequence;
    doubt.read(message);
    this.messageSilentMs = 0;
    this.turns.add(message);
    return true;
  }

  private lookInto(message: Incoming): void {
    this.doubt.raise(message);
    if (this.connection !== undefined) this.fetch(this.connection);
  }

  private contradict(sequence: number): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.turns.close();
    this.events.contradicted(sequence);
  }

  private noticePause(): void {
    const { connection } = this;
    const nowMs = this.nowMs();
    const awayMs = nowMs - this.ranAtMs;
    this.ranAtMs = nowMs;
    if (awayMs < PAUSE_MS || connection === undefined) return;
    this.endFetch();
    this.doubt.raise();
    this.fetch(connection);
  }

  private recover(): void {
    const { connection } = this;
    if (this.isRecovering || connection === undefined || this.isClosed) return;
    this.isRecovering = true;
    if (!this.doubt.isOpen) this.doubt.raise();
    this.recoveries++;
    this.sinceCreateMs = CREATE_PAUSE_MS;
    this.step(connection);
  }

  /** What recovering needs next; called from time to time until a consumer was created. */
  private step(connection: NatsConnection): void {
    this.fetch(connection);
    const isDue = !this.isCreating && this.sinceCreateMs >= CREATE_PAUSE_MS;
    if (isDue && this.isNearEnd) void this.replaceConsumer(connection);
  }

  private async replaceConsumer(connection: NatsConnection): Promise<void> {
    this.isCreating = true;
    this.sinceCreateMs = 0;
    try {
      const created = await Consumer.create(connection, this.stream, this.lastSeq + 1, this);
      if (connection === this.connection && !this.isClosed) this.use(created);
      else created.remove();
    } catch {
      // No answer or no leader: tried again while fetching goes on.
    } finally {
      this.isCreating = false;
    }
  }

  private use(created: Consumer): void {
    this.consumer?.remove();
    this.consumer = created;
    this.consumerSilentMs = 0;
    this.isRecovering = false;
  }

  /** Asks the leader for the message read last, and goes on if it is that one. */
  private async ask(connection: NatsConnection): Promise<void> {
    if (!(await this.doubt.ask(connection, () => this.noticePause())) || this.isClosed) return;
    this.messageSilentMs = 0;
    // What it brought during the doubt was refused.
    this.endFetch();
    this.fetch(connection);
    this.turns.goOn();
  }

  private drained(): void {
    if (this.isFetchDue && this.connection !== undefined) this.fetch(this.connection);
  }

  private endFetch(): void {
    this.fetching?.end();
    this.fetching = undefined;
  }

  private fetch(connection: NatsConnection): void {
    if (connection.isClosed()) return;
    if (this.doubt.isOpen) {
      void this.ask(connection);
      return;
    }
    this.isFetchDue = this.isDelivering;
    if (this.fetching !== undefined || this.isDelivering) return;
    this.sinceFetchMs = 0;
    let accepted = 0;
    const fetching = new Fetch(connection, this.stream, this.lastSeq + 1, {
      message: (message) => {
        this.noticePause();
        if (fetching === this.fetching && this.accept(message)) accepted++;
      },
      ended: (pending) => {
        if (fetching !== this.fetching) return;
        this.fetching = undefined;
        this.fetched(connection, accepted, pending);
      },
    });
    this.fetching = fetching;
    fetching.start();
  }

  private fetched(connection: NatsConnection, accepted: number, pending: number | undefined): void {
    if (pending !== undefined) this.knownEnd = this.lastSeq + pending;
    const { hasRefused } = this;
    if (!this.doubt.isOpen) this.hasRefused = false;
    if (!this.isRecovering) {
      // The consumer should have pushed them, and did not do so during a doubt.
      if (accepted > 0 && !hasRefused) this.recover();
      return;
    }
    if (accepted > 0) this.step(connection);
    else {
      setTimeout(() => {
        if (this.isRecovering && connection === this.connection) this.step(connection);
      }, FETCH_PAUSE_MS);
    }
  }
}
