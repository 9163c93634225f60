/**
 * The replicated log on NATS JetStream: one ordered list of batches that every gateway reads.
 *
 * The path of a batch: `publish` sends it as one message; the servers store it by quorum; the reader
 * receives it at stream sequence last + 1; the chain takes it in; it is judged, queued for the mirror
 * and delivered. A gateway acts on its own batches only when they are delivered.
 */

import type { NatsConnection } from "@nats-io/transport-node";
import {
  type Batch,
  type BatchId,
  BatchRefused,
  encodeMessage,
  MAX_MESSAGE_BYTES,
  messageBytes,
} from "@perpgate/journal";
import { ask, NOT_FOUND_MS } from "./ask.js";
import type { LogHooks, Mirror } from "./batch.js";
import { Chain } from "./chain.js";
import { Delivery } from "./delivery.js";
import { Drops } from "./drops.js";
import { ClusterError, textOf } from "./errors.js";
import { FillAlarm } from "./fill-alarm.js";
import type { Incoming } from "./incoming.js";
import { type StreamState, streamState } from "./jetstream-api.js";
import { contradiction, type LeaderAnswer, LeaderWatch } from "./leader-watch.js";
import { type Access, Link, type Logger } from "./link.js";
import { checkMirror, checkSetup } from "./open-checks.js";
import { Publisher } from "./publisher.js";
import { Reader } from "./reader.js";
import type { LogStatus } from "./status.js";
import { checkServer } from "./stream-config.js";
import { StreamEnd } from "./stream-end.js";
import { missingStream, StreamWatch } from "./stream-watch.js";
import { announcementSubject, checkStreamName, MAX_ANNOUNCEMENT_BYTES } from "./subjects.js";

export interface LogOptions extends Access {
  readonly stream: string;
  readonly mirror: Mirror;
  readonly hooks: LogHooks;
  readonly logger: Logger;
  /** Addresses of the servers' monitoring pages, such as "http://10.0.0.1:8222". */
  readonly monitors?: readonly string[];
  /** How long `open` and `start` wait for servers; 60 s by default. */
  readonly patienceMs?: number;
}

const PULSE_MS = 50;
/** A longer pause between two pulses is this process's own: it counts as this much. */
const MAX_ELAPSED_MS = 100;
const PATIENCE_MS = 60_000;

export class ReplicatedLog {
  /** Resolves when the log can go on no longer; the process must send no more answers, and exit. */
  readonly stopped: Promise<Error>;
  /** What other gateways announce; also this gateway's own texts. */
  onAnnouncement: (text: string) => void = () => undefined;
  private readonly link: Link;
  private readonly chain: Chain;
  private readonly reader: Reader;
  private readonly publisher: Publisher;
  private readonly delivery: Delivery;
  private readonly drops: Drops;
  private readonly streamEnd = new StreamEnd();
  private readonly fillAlarm: FillAlarm;
  private watch: StreamWatch | undefined;
  private readonly leaderWatch: LeaderWatch;
  private pulse: NodeJS.Timeout | undefined;
  private pulsedMs = performance.now();
  private announceStop: (error: Error) => void = () => undefined;
  private isStopped = false;
  private isReading = false;
  /** Set until the end of the stream, as seen at the start, is delivered. */
  private caughtUpAt: { readonly target: number; readonly resolve: () => void } | undefined;

  private constructor(
    private readonly options: LogOptions,
    tail: readonly Uint8Array[],
  ) {
    const { stream, mirror, hooks, logger } = options;
    this.stopped = new Promise((resolve) => {
      this.announceStop = resolve;
    });
    const fail = (error: ClusterError): void => this.fail(error);
    this.drops = new Drops(logger);
    this.fillAlarm = new FillAlarm(stream, logger);
    this.chain = new Chain(mirror.end, tail);
    const warn = (text: string): void => logger.warn(text);
    const problem = (): string => this.link.problem;
    // A stream that ends below what was applied was cut back: other advice follows.
    const isAtEnd = (): boolean =>
      this.streamEnd.lagMs === 0 && this.watch?.state !== undefined && !this.leaderWatch.isBelow;
    this.publisher = new Publisher(stream, () => this.chain.last, fail, warn, problem, isAtEnd);
    const { chain, publisher, drops } = this;
    this.delivery = new Delivery(stream, mirror, hooks, chain, publisher, drops, fail);
    this.reader = new Reader(stream, mirror.end, {
      deliver: (message) => this.receive(message),
      contradicted: (sequence) => fail(contradiction(sequence)),
      room: () => hooks.room(),
      failed: (error) => fail(new ClusterError("failed", textOf(error), { cause: error })),
    });
    this.link = new Link(options, logger, (connection) => this.connected(connection));
    const leaderEvents = {
      answered: ({ has, sequence }: LeaderAnswer) => {
        if (has === "other") fail(contradiction(sequence));
      },
      unanswered: () => undefined,
      lost: fail,
      move: (reason: string) => this.link.move(reason),
    };
    this.leaderWatch = new LeaderWatch(stream, chain, leaderEvents, options.servers.length);
  }

  /**
   * Connects, and checks the servers, the stream and the mirror. Rejects with `ClusterError`.
   */
  static async open(options: LogOptions): Promise<ReplicatedLog> {
    const { stream, mirror, logger, monitors = [], patienceMs = PATIENCE_MS } = options;
    checkStreamName(stream);
    const tail = mirror.chainTail();
    const log = new ReplicatedLog(options, tail);
    try {
      await log.link.open(patienceMs);
      log.pulse = setInterval(() => log.beat(), PULSE_MS);
      const found = await ask(log.link, patienceMs, (to) => streamState(to, stream));
      await checkSetup(log.link, stream, found, monitors, logger);
      const checked = await checkMirror(log.link, stream, mirror.end, tail, patienceMs);
      log.useState(checked.state);
      // Servers may be restored between this and `start`: the first doubt compares with it.
      if (checked.last !== undefined) log.reader.continueAfter(checked.last);
      return log;
    } catch (error) {
      await log.close();
      throw adviceFor(mirror, stream, error);
    }
  }

  /**
   * Delivers every message after the mirror's end to `onBatch`, which must not throw. Resolves once
   * the stream's end, as it is now, was delivered.
   */
  async start(onBatch: (batch: Batch) => void): Promise<void> {
    const { stream, mirror, patienceMs = PATIENCE_MS } = this.options;
    const asked = ask(this.link, patienceMs, (to) => streamState(to, stream)).catch(
      (error: unknown) => Promise.reject(adviceFor(mirror, stream, error)),
    );
    const state = await Promise.race([asked, this.stopped]);
    if (state instanceof Error) throw state;
    this.delivery.onBatch = onBatch;
    this.isReading = true;
    this.streamEnd.learn(state.lastSeq, this.chain.last);
    const target = state.lastSeq;
    const reached = new Promise<void>((resolve) => {
      this.caughtUpAt = { target, resolve };
    });
    const { connection } = this.link;
    if (connection !== undefined) this.reader.attach(connection, target - this.chain.last);
    this.checkCaughtUp();
    const failed = await Promise.race([reached, this.stopped]);
    if (failed instanceof Error) throw failed;
  }

  /**
   * Publishes a batch, and publishes it again until it is delivered or abandoned. One at a time;
   * throws when one is in flight, and `BatchRefused` when it is invalid.
   */
  publish(id: BatchId, records: readonly Uint8Array[]): void {
    const bytes = messageBytes(records);
    if (bytes > MAX_MESSAGE_BYTES) {
      const text = `a message takes ${MAX_MESSAGE_BYTES} bytes at most, this one has ${bytes}`;
      throw new BatchRefused("batch_too_large", text);
    }
    this.publisher.publish(id, () => {
      const claim = { seq: this.chain.last, chain: this.chain.head };
      const block = this.options.hooks.lastBlock();
      return encodeMessage({ ...id, claim, block, records });
    });
  }

  /** Gives a text to the other gateways that are connected now; nothing keeps it. */
  announce(text: string): void {
    const { connection } = this.link;
    if (connection === undefined || connection.isClosed()) return;
    connection.publish(announcementSubject(this.options.stream), text);
  }

  /** Publishes the batch in flight no more. It may still be delivered. */
  abandon(): void {
    this.publisher.abandon();
  }

  status(): LogStatus {
    return {
      server: this.link.server,
      connectionProblem: this.link.problem,
      reconnects: this.link.moves,
      recoveries: this.reader.recoveries,
      lastSeq: this.chain.last,
      streamLastSeq: this.streamEnd.lastSeq,
      lagMs: this.streamEnd.lagMs,
      waitedMs: this.publisher.waitedMs,
      republished: this.publisher.republished,
      malformed: this.drops.malformed,
      chainDrops: this.drops.chain,
      writers: this.delivery.views(),
      refusal: this.publisher.refusal,
      stream: this.watch?.state,
    };
  }

  async close(): Promise<void> {
    this.halt();
    await this.link.close();
  }

  private connected(connection: NatsConnection): void {
    const { logger } = this.options;
    const info = connection.info;
    if (info !== undefined && this.watch !== undefined) {
      for (const text of checkServer(this.link.server, info).refused) logger.warn(text);
    }
    this.publisher.attach(connection);
    this.listen(connection);
    if (this.isReading) {
      this.reader.attach(connection, this.streamEnd.lastSeq - this.reader.last);
    }
  }

  private listen(connection: NatsConnection): void {
    connection.subscribe(announcementSubject(this.options.stream), {
      callback: (error, message) => {
        if (error === null && message.data.length <= MAX_ANNOUNCEMENT_BYTES) {
          this.onAnnouncement(message.string());
        }
      },
    });
  }

  private beat(): void {
    const now = performance.now();
    const elapsedMs = Math.min(now - this.pulsedMs, MAX_ELAPSED_MS);
    this.pulsedMs = now;
    this.link.tick(elapsedMs);
    this.reader.tick(elapsedMs);
    this.publisher.tick(elapsedMs);
    if (this.watch !== undefined) {
      this.watch.tick(elapsedMs, this.link.connection);
      this.leaderWatch.tick(elapsedMs, this.link.connection, this.link.server);
    }
    this.delivery.checkMajority();
  }

  private useState(state: StreamState): void {
    this.streamEnd.learn(state.lastSeq, this.chain.last);
    this.watch = new StreamWatch(
      this.options.stream,
      state,
      () => this.chain.last,
      (newer) => this.polled(newer),
      (error) => this.fail(error),
    );
  }

  private polled(state: StreamState): void {
    const { lastSeq } = state;
    const applied = this.chain.last;
    this.fillAlarm.check(state);
    this.streamEnd.learn(lastSeq, applied);
    const isStuck = this.streamEnd.isStuck(lastSeq, applied);
    // What waits for its delivery has arrived.
    if (this.isReading && isStuck && !this.reader.isDelivering) {
      this.link.move(`it does not deliver sequence ${applied + 1}, which the stream has`);
    }
  }

  private receive(message: Incoming): void {
    this.delivery.receive(message);
    this.streamEnd.learn(message.sequence, this.chain.last);
    this.checkCaughtUp();
  }

  private checkCaughtUp(): void {
    if (this.caughtUpAt === undefined || this.chain.last < this.caughtUpAt.target) return;
    this.caughtUpAt.resolve();
    this.caughtUpAt = undefined;
    this.delivery.startJudging();
  }

  private fail(error: ClusterError): void {
    if (this.isStopped) return;
    this.halt();
    this.announceStop(error);
    void this.link.close();
  }

  private halt(): void {
    this.isStopped = true;
    this.delivery.end();
    clearInterval(this.pulse);
    this.publisher.abandon();
    this.reader.close();
  }
}

/** A missing stream is a venue's beginning only for a gateway that has nothing of it. */
function adviceFor({ end }: Mirror, stream: string, error: unknown): unknown {
  const isMissing = error instanceof ClusterError && error.code === "no_stream";
  return isMissing && end > 0 ? missingStream(stream, NOT_FOUND_MS, end) : error;
}
