/**
 * The replicated log on NATS JetStream, written by one core: gives `LogCore` a connection that moves between
 * servers, a reader, the answers of the stream's leader, the heartbeats of other cores, and a mirror.
 */

import {
  createInbox,
  headers,
  type Msg,
  type NatsConnection,
  PermissionViolationError,
  type Subscription,
} from "@nats-io/transport-node";
import type { CoreLogHooks, Mirror } from "@perpgate/journal";
import { askServers, NOT_FOUND_MS } from "./ask.js";
import { MessageChain } from "./chain.js";
import { ClusterError, textOf } from "./errors.js";
import { decodeHeartbeat, encodeHeartbeat, type Heartbeat } from "./heartbeat.js";
import type { Incoming } from "./incoming.js";
import {
  errorIn,
  parse,
  type StreamFigures,
  streamState,
  WRONG_LAST_SEQUENCE,
} from "./jetstream-api.js";
import { LeaderWatch } from "./leader-watch.js";
import { Link, type Logger, type ServerAccess } from "./link.js";
import { LogCore, type LogCoreOptions, type LogCorePorts } from "./log-core.js";
import { checkMirror, checkSetup } from "./open-checks.js";
import { LogStreamReader } from "./reader.js";
import type { LogStatus } from "./status.js";
import { checkServer } from "./stream-config.js";
import { missingStream, StreamWatch } from "./stream-watch.js";
import {
  announcementSubject,
  checkStreamName,
  coreSubject,
  heartbeatSubject,
  MAX_ANNOUNCEMENT_BYTES,
} from "./subjects.js";
import type { Obstacle } from "./takeover.js";

export interface FencedLogOptions extends ServerAccess, Omit<LogCoreOptions, "chain"> {
  readonly mirror: Mirror;
  readonly hooks: CoreLogHooks;
  /** Of this core; others show it. */
  readonly release: string;
  readonly logger: Logger;
  /** Addresses of the servers' monitoring pages. */
  readonly monitors?: readonly string[];
  /** How long `open` and `start` wait for servers; 60 s by default. */
  readonly patienceMs?: number;
  readonly clockMs?: () => number;
}

const PULSE_MS = 50;
/** A longer pause between two pulses is this process's own: it counts as this much. */
const MAX_ELAPSED_MS = 100;
const PATIENCE_MS = 60_000;
const HEARTBEAT_MS = 250;
/**
 * A message in flight that is not read for as long: a stream's leader that is cut off from the others goes on
 * answering for ten seconds and more, and can store nothing.
 */
const UNSTORED_MS = 1_000;
/** Between two warnings that the log has no new message: a leader writes five times a second. */
const WARN_MS = 10_000;
const NO_RESPONDERS = 503;
const NO_LEADER = "no leader of the stream answers";
const OBSTACLES: Readonly<Record<Obstacle, string>> = {
  not_silent: "this core waits until it has been silent for long enough",
  no_stream_leader: NO_LEADER,
  behind: "the stream has messages that this core has not read",
  higher_known: "another core has read more than the stream has",
  other_chain: "another core has another log",
  clock: "the clock of this core is wrong",
};

/** How far the stream is known to reach, and how long this core has been behind it. */
class StreamEnd {
  /** The greatest sequence that the stream is known to have. */
  lastSeq = 0;
  private behindSinceMs: number | undefined;

  learn(lastSeq: number, applied: number): void {
    this.lastSeq = Math.max(this.lastSeq, lastSeq);
    if (this.lastSeq > applied) this.behindSinceMs ??= performance.now();
    else this.behindSinceMs = undefined;
  }

  get lagMs(): number {
    return this.behindSinceMs === undefined ? 0 : performance.now() - this.behindSinceMs;
  }
}

export class FencedLog {
  /** Resolves when the log can go on no longer; the process must send no more answers, and exit. */
  readonly stopped: Promise<Error>;
  /** What other cores announce; also this core's own texts. */
  onAnnouncement: (text: string) => void = () => undefined;
  /** Why the servers refused the newest publish, other than for its place; "" if they did not. */
  refusal = "";
  private readonly core: LogCore;
  private readonly chain: MessageChain;
  private readonly link: Link;
  private readonly reader: LogStreamReader;
  private readonly leaderWatch: LeaderWatch;
  private readonly fillAlarm: FillAlarm;
  private watch: StreamWatch | undefined;
  private onBatch: LogCorePorts["deliver"] = () => undefined;
  private announceStop: (error: Error) => void = () => undefined;
  private pulse: NodeJS.Timeout | undefined;
  private pulsedMs = performance.now();
  private sinceHeartbeatMs = 0;
  /** For how long a message has been in flight over this connection. */
  private unstoredMs = 0;
  /** For how long over any. */
  private waitedMs = 0;
  /** For how long no message has come. */
  private silentMs = 0;
  private answers: { readonly inbox: string; readonly subscription: Subscription } | undefined;
  private readonly streamEnd = new StreamEnd();
  private isReading = false;
  private isStopped = false;
  private caughtUpAt: { readonly target: number; readonly resolve: () => void } | undefined;

  private constructor(
    private readonly options: FencedLogOptions,
    tail: readonly Uint8Array[],
  ) {
    const { stream, mirror, hooks, logger, clockMs = Date.now } = options;
    this.stopped = new Promise((resolve) => {
      this.announceStop = resolve;
    });
    const nowMs = (): number => performance.now();
    const fail = (error: ClusterError): void => this.fail(error);
    this.chain = new MessageChain(mirror.end, tail);
    this.fillAlarm = new FillAlarm(stream, logger);
    this.core = new LogCore(
      { ...options, chain: this.chain },
      {
        nowMs,
        clockMs,
        blocks: hooks,
        leader: () => hooks.leader(),
        claim: () => hooks.claim(),
        isReady: () => this.caughtUpAt === undefined && this.isReading && hooks.isReady(),
        edges: () => hooks.edges(),
        publish: (message, expectedLast) => this.publish(message, expectedLast),
        mirror: (sequence, record) => this.keep(sequence, record),
        deliver: (batch, settled) => this.onBatch(batch, settled),
      },
    );
    this.reader = new LogStreamReader(stream, mirror.end, {
      deliver: (message) => this.accept(message),
      room: () => hooks.room(),
      failed: (error) => fail(new ClusterError("failed", textOf(error), { cause: error })),
    });
    this.link = new Link(options, logger, (connection) => this.connected(connection));
    const leaderEvents = {
      answered: (answer: Parameters<LogCore["answered"]>[0]) => {
        this.streamEnd.learn(answer.last, this.chain.last);
        this.guard(() => this.core.answered(answer));
      },
      unanswered: () => this.core.unanswered(),
      lost: fail,
      move: (reason: string) => this.link.move(reason),
    };
    this.leaderWatch = new LeaderWatch(stream, this.chain, leaderEvents, options.servers.length);
  }

  /** Connects, and checks the servers, the stream and the mirror. Rejects with `ClusterError`. */
  static async open(options: FencedLogOptions): Promise<FencedLog> {
    const { stream, mirror, logger, monitors = [], patienceMs = PATIENCE_MS } = options;
    checkStreamName(stream);
    const tail = mirror.chainTail();
    const log = new FencedLog(options, tail);
    try {
      await log.link.open(patienceMs);
      log.pulse = setInterval(() => log.beat(), PULSE_MS);
      const found = await askServers(log.link, patienceMs, (to) => streamState(to, stream));
      await checkSetup(log.link, stream, found, monitors, logger);
      const state = await checkMirror(log.link, stream, mirror.end, tail, patienceMs);
      log.follow(state);
      return log;
    } catch (error) {
      await log.close();
      throw adviceFor(mirror, stream, error);
    }
  }

  /**
   * Delivers every message after the mirror's end to `onBatch`, which must not throw. Resolves once the
   * stream's end, as it is now, was delivered; only then may this core claim.
   */
  async start(onBatch: LogCorePorts["deliver"]): Promise<void> {
    const { stream, mirror, patienceMs = PATIENCE_MS } = this.options;
    const asked = askServers(this.link, patienceMs, (to) => streamState(to, stream)).catch(
      (error: unknown) => Promise.reject(adviceFor(mirror, stream, error)),
    );
    const state = await Promise.race([asked, this.stopped]);
    if (state instanceof Error) throw state;
    this.onBatch = onBatch;
    const target = state.lastSeq;
    const reached = new Promise<void>((resolve) => {
      this.caughtUpAt = { target, resolve };
    });
    this.isReading = true;
    const { connection } = this.link;
    if (connection !== undefined) this.reader.attach(connection, target - this.chain.last);
    this.checkCaughtUp();
    const failed = await Promise.race([reached, this.stopped]);
    if (failed instanceof Error) throw failed;
  }

  get leads(): boolean {
    return this.core.leads;
  }

  get mayPropose(): boolean {
    return !this.isStopped && this.core.mayPropose;
  }

  /** Publishes a batch, until it or another message is read in its place. Throws unless `mayPropose`. */
  propose(records: readonly Uint8Array[]): void {
    this.core.propose(records);
  }

  /** Lets another core lead without a pause; returns its name, empty if there is none. */
  handOver(to?: string): string {
    const name = this.core.handOver(to);
    this.say();
    return name;
  }

  /** Whether another core was heard lately that has the same wall clock. */
  get isClockShared(): boolean {
    return this.core.takeover.isClockShared;
  }

  /** Gives a text to the other cores that are connected now; nothing keeps it. */
  announce(text: string): void {
    const { connection } = this.link;
    if (connection === undefined || connection.isClosed()) return;
    connection.publish(announcementSubject(this.options.stream), text);
  }

  status(): LogStatus {
    const { core, link, reader, chain } = this;
    return {
      server: link.server,
      connectionProblem: link.problem,
      reconnects: link.moves,
      recoveries: reader.recoveries,
      lastSeq: chain.last,
      streamLastSeq: this.streamEnd.lastSeq,
      lagMs: this.streamEnd.lagMs,
      waitedMs: this.waitedMs,
      leads: core.leads,
      obstacle: core.leads ? undefined : core.takeover.obstacle,
      otherChain: core.takeover.otherChain,
      isClockWrong: core.takeover.isClockWrong,
      cores: [
        { heartbeat: this.heartbeat(), aheadMs: 0 },
        ...[...core.takeover.heardNow()].map(({ heartbeat, aheadMs }) => ({ heartbeat, aheadMs })),
      ],
      refusal: this.refusal,
      stream: this.watch?.state,
    };
  }

  async close(): Promise<void> {
    this.halt();
    await this.link.close();
  }

  private connected(connection: NatsConnection): void {
    const { logger, stream } = this.options;
    this.unstoredMs = 0;
    const { info } = connection;
    if (info !== undefined && this.watch !== undefined) {
      for (const text of checkServer(this.link.server, info).refused) logger.warn(text);
    }
    const inbox = createInbox();
    const subscription = connection.subscribe(inbox, {
      callback: (error, message) => {
        if (error === null) this.publishAnswered(message);
      },
    });
    this.answers = { inbox, subscription };
    void this.watchRights(connection);
    connection.subscribe(heartbeatSubject(stream), {
      callback: (error, message) => {
        const heartbeat = error === null ? decodeHeartbeat(message.data) : undefined;
        if (heartbeat !== undefined) this.core.takeover.heard(heartbeat);
      },
    });
    connection.subscribe(announcementSubject(stream), {
      callback: (error, message) => {
        if (error === null && message.data.length <= MAX_ANNOUNCEMENT_BYTES) {
          this.onAnnouncement(message.string());
        }
      },
    });
    if (!this.isReading) return;
    this.reader.attach(connection, this.streamEnd.lastSeq - this.reader.last);
    this.core.repeat();
  }

  private publish(message: Uint8Array, expectedLast: number): void {
    const { connection } = this.link;
    if (connection === undefined || connection.isClosed() || this.isStopped) return;
    const head = headers();
    head.set("Nats-Expected-Last-Sequence", String(expectedLast));
    const subject = coreSubject(this.options.stream);
    const reply = this.answers?.inbox;
    try {
      connection.publish(subject, message, {
        headers: head,
        ...(reply === undefined ? {} : { reply }),
      });
    } catch (error) {
      this.refusal = textOf(error);
    }
  }

  /** A server does not answer what it refuses for want of a right. */
  private async watchRights(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type !== "error" || !(status.error instanceof PermissionViolationError)) continue;
      const { operation, subject, message } = status.error;
      const isOurs = operation === "publish" && subject === coreSubject(this.options.stream);
      if (isOurs) this.refusal = message;
    }
  }

  /** For the status alone: what the servers say settles nothing. */
  private publishAnswered({ data, headers: head }: Msg): void {
    if (head?.code === NO_RESPONDERS) {
      this.refusal = NO_LEADER;
      return;
    }
    const error = errorIn(parse(data));
    if (error === undefined) this.refusal = "";
    else if (error.code !== WRONG_LAST_SEQUENCE) this.refusal = error.message;
  }

  private accept(message: Incoming): void {
    if (this.isStopped) return;
    this.unstoredMs = 0;
    this.guard(() => this.core.accept(message), message.sequence);
    this.waitedMs = 0;
    this.silentMs = 0;
    this.streamEnd.learn(message.sequence, this.chain.last);
    this.checkCaughtUp();
    this.options.hooks.mayPropose();
  }

  private keep(sequence: number, record: Uint8Array): void {
    this.options.mirror.append(sequence, record).catch((error: unknown) => {
      const text = `the mirror did not store sequence ${sequence}: ${textOf(error)}`;
      this.fail(new ClusterError("failed", text, { sequence, cause: error }));
    });
  }

  private beat(): void {
    const nowMs = performance.now();
    const elapsedMs = Math.min(nowMs - this.pulsedMs, MAX_ELAPSED_MS);
    this.pulsedMs = nowMs;
    this.link.tick(elapsedMs);
    this.reader.tick(elapsedMs);
    if (this.watch === undefined || this.isStopped) return;
    this.watch.tick(elapsedMs, this.link.connection);
    this.leaderWatch.tick(elapsedMs, this.link.connection, this.link.server);
    this.leaveIfUnstored(elapsedMs);
    this.warnIfSilent(elapsedMs);
    this.sinceHeartbeatMs += elapsedMs;
    if (this.sinceHeartbeatMs >= HEARTBEAT_MS || this.core.isOffering) this.say();
    if (!this.isReading || this.caughtUpAt !== undefined) return;
    this.guard(() => this.core.tick());
    if (this.mayPropose) this.options.hooks.mayPropose();
  }

  private leaveIfUnstored(elapsedMs: number): void {
    const { core, link } = this;
    this.waitedMs = core.isInFlight ? this.waitedMs + elapsedMs : 0;
    const isWaiting = core.isInFlight && link.connection !== undefined && link.servers > 1;
    this.unstoredMs = isWaiting ? this.unstoredMs + elapsedMs : 0;
    if (this.unstoredMs < UNSTORED_MS) return;
    this.unstoredMs = 0;
    link.move("what is published through it is not stored");
  }

  private warnIfSilent(elapsedMs: number): void {
    const before = Math.floor(this.silentMs / WARN_MS);
    this.silentMs += elapsedMs;
    const periods = Math.floor(this.silentMs / WARN_MS);
    if (periods === before) return;
    const seconds = (periods * WARN_MS) / 1_000;
    this.options.logger.warn(`no message of the log for ${seconds} s: ${this.silenceReason()}`);
  }

  private silenceReason(): string {
    const { core, link, refusal } = this;
    if (link.connection === undefined) {
      return ["no server is connected", link.problem].filter(Boolean).join(": ");
    }
    if (core.isInFlight) {
      return refusal === "" ? "what this core has published is not stored" : refusal;
    }
    const { obstacle, otherChain } = core.takeover;
    if (otherChain !== "") return otherChain;
    return obstacle === undefined ? "this core is not ready to lead" : OBSTACLES[obstacle];
  }

  private say(): void {
    this.sinceHeartbeatMs = 0;
    const { connection } = this.link;
    if (connection === undefined || connection.isClosed()) return;
    const text = encodeHeartbeat(this.heartbeat());
    connection.publish(heartbeatSubject(this.options.stream), text);
  }

  private heartbeat(): Heartbeat {
    const { release } = this.options;
    return { ...this.core.heartbeat(), server: this.link.server, release };
  }

  private follow(state: StreamFigures): void {
    this.streamEnd.learn(state.lastSeq, this.chain.last);
    this.watch = new StreamWatch(
      this.options.stream,
      state,
      () => this.chain.last,
      (newer) => {
        this.fillAlarm.check(newer);
        this.streamEnd.learn(newer.lastSeq, this.chain.last);
      },
      (error) => this.fail(error),
    );
  }

  private checkCaughtUp(): void {
    if (this.caughtUpAt === undefined || this.chain.last < this.caughtUpAt.target) return;
    this.caughtUpAt.resolve();
    this.caughtUpAt = undefined;
  }

  private guard(run: () => void, sequence = this.chain.last + 1): void {
    try {
      run();
    } catch (error) {
      const text = `stopped at sequence ${sequence}: ${textOf(error)}`;
      this.fail(
        error instanceof ClusterError
          ? error
          : new ClusterError("failed", text, { sequence, cause: error }),
      );
    }
  }

  private fail(error: ClusterError): void {
    if (this.isStopped) return;
    this.halt();
    this.announceStop(error);
    void this.link.close();
  }

  private halt(): void {
    this.isStopped = true;
    clearInterval(this.pulse);
    this.reader.close();
  }
}

/** A missing stream is a venue's beginning only for a core that has nothing of it. */
function adviceFor({ end }: Mirror, stream: string, error: unknown): unknown {
  const isMissing = error instanceof ClusterError && error.code === "no_stream";
  return isMissing && end > 0 ? missingStream(stream, NOT_FOUND_MS, end) : error;
}

const ALARMS = [0.5, 0.8];

/** Warns once when the stream passes 50 and 80 % of its limit: a full stream refuses every batch. */
export class FillAlarm {
  private raised = 0;

  constructor(
    private readonly stream: string,
    private readonly logger: Logger,
  ) {}

  check({ bytes, maxBytes }: StreamFigures): void {
    if (maxBytes === undefined) return;
    const passed = ALARMS.filter((share) => bytes >= share * maxBytes).length;
    if (passed > this.raised) {
      const percent = Math.floor((100 * bytes) / maxBytes);
      this.logger.warn(
        `stream ${this.stream} is ${percent} % full (${bytes} of ${maxBytes} bytes): raise its ` +
          "max_bytes, or no order is accepted once it is full",
      );
    }
    this.raised = passed;
  }
}
