/**
 * Reads the stream in order: accepts only the sequence last + 1, whatever the servers send. Whether it is of
 * the log that was read before, the message itself says: it names the chain of the one before it (`fence.ts`).
 *
 * Near the end of the stream a push consumer delivers. The reader recovers when that consumer leaves
 * a gap, reports messages that did not arrive, or is silent for 300 ms (it sends a heartbeat every
 * 100 ms), and on every new connection: it fetches from last + 1 by direct gets, which any replica
 * answers, and creates a new consumer meanwhile. When only messages are missing for 300 ms, it fetches
 * once: the consumer's server may be cut off from the others and not know of new messages.
 *
 * Accepted messages are delivered a bounded number per turn of the event loop (`turns.ts`). The next page is
 * fetched when none waits.
 */

import type { NatsConnection } from "@nats-io/transport-node";
import { Consumer, type ConsumerEvents } from "./consumer.js";
import { Fetch } from "./fetch.js";
import type { Incoming } from "./incoming.js";
import { type TurnEvents, Turns } from "./turns.js";

const SILENCE_MS = 300;
/** Between two fetches that found nothing while there is no consumer. */
const FETCH_PAUSE_MS = 20;
/** Between two attempts to create a consumer. */
const CREATE_PAUSE_MS = 250;
/** A consumer has no flow control: it is created when at most this many messages are missing. */
const NEAR_END = 1000;

type ReaderEvents = Pick<TurnEvents, "deliver" | "room" | "failed">;

export class LogStreamReader implements ConsumerEvents {
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
  /** Since a message was accepted. */
  private messageSilentMs = 0;
  private sinceFetchMs = 0;
  private sinceCreateMs = 0;
  private isClosed = false;
  /** Whether the next message was pushed and not accepted, with too many waiting. */
  private hasRefused = false;
  /** Accepted messages that are not delivered yet. */
  private readonly turns: Turns;
  /** Whether to fetch when every accepted message is delivered. */
  private isFetchDue = false;

  constructor(
    private readonly stream: string,
    private lastSeq: number,
    events: ReaderEvents,
  ) {
    this.turns = new Turns({ ...events, drained: () => this.drained() });
  }

  get last(): number {
    return this.lastSeq;
  }

  /** Reads over a new connection; `behind`: how many messages are known to be missing. */
  attach(connection: NatsConnection, behind: number): void {
    this.detach();
    this.connection = connection;
    this.knownEnd = this.lastSeq + behind;
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
    this.consumerSilentMs += elapsedMs;
    this.messageSilentMs += elapsedMs;
    this.sinceFetchMs += elapsedMs;
    this.sinceCreateMs += elapsedMs;
    this.fetching?.tick(elapsedMs);
    const isSilent = this.messageSilentMs >= SILENCE_MS;
    if (this.isRecovering) this.step(connection);
    else if (this.consumerSilentMs >= SILENCE_MS) this.recover();
    else if (isSilent && this.sinceFetchMs >= SILENCE_MS) this.fetch(connection);
  }

  close(): void {
    this.isClosed = true;
    this.turns.close();
    this.consumer?.remove();
    this.detach();
  }

  message(message: Incoming): void {
    this.consumerSilentMs = 0;
    const isNext = message.sequence === this.lastSeq + 1;
    if (this.accept(message) || !isNext) return;
    this.hasRefused = true;
    this.isFetchDue = true;
  }

  heartbeat(pushedSeq: number): void {
    this.consumerSilentMs = 0;
    if (pushedSeq > this.lastSeq && !this.hasRefused) this.recover();
  }

  /** Whether accepted messages wait for their delivery. */
  private get isDelivering(): boolean {
    return !this.turns.isEmpty;
  }

  private get isNearEnd(): boolean {
    return this.knownEnd - this.lastSeq <= NEAR_END;
  }

  /** Whether the message was the next one. */
  private accept(message: Incoming): boolean {
    if (this.isClosed) return false;
    if (message.sequence > this.lastSeq + 1 && !this.hasRefused) this.recover();
    if (message.sequence !== this.lastSeq + 1) return false;
    if (this.turns.isFull) return false;
    this.lastSeq = message.sequence;
    this.messageSilentMs = 0;
    this.turns.add(message);
    return true;
  }

  private recover(): void {
    const { connection } = this;
    if (this.isRecovering || connection === undefined || this.isClosed) return;
    this.isRecovering = true;
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

  private drained(): void {
    if (this.isFetchDue && this.connection !== undefined) this.fetch(this.connection);
  }

  private endFetch(): void {
    this.fetching?.end();
    this.fetching = undefined;
  }

  private fetch(connection: NatsConnection): void {
    if (connection.isClosed()) return;
    this.isFetchDue = this.isDelivering;
    if (this.fetching !== undefined || this.isDelivering) return;
    this.sinceFetchMs = 0;
    let accepted = 0;
    const fetching = new Fetch(connection, this.stream, this.lastSeq + 1, {
      message: (message) => {
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
    this.hasRefused = false;
    if (!this.isRecovering) {
      // The consumer should have pushed them.
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
