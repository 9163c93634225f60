/**
 * Publishes this writer's batches, one at a time: the same bytes every 250 ms until the reader
 * delivers them or the caller abandons them.
 *
 * A publish carries the sequence of the last message on the writer's own subject, so the server
 * refuses a second copy and a stale writer. The server's answers settle nothing; they are compared
 * with the deliveries, and shown in the status. A server that has no leader of the stream answers with
 * a bare 503, and a missing right to publish is an error of the connection without any answer.
 */

import {
  createInbox,
  headers,
  type Msg,
  type NatsConnection,
  PermissionViolationError,
} from "@nats-io/transport-node";
import type { BatchId } from "@perpgate/journal";
import { ClusterError, textOf } from "./errors.js";
import { errorIn, numberOf, parse, WRONG_LAST_SEQUENCE } from "./jetstream-api.js";
import { subjectOf } from "./subjects.js";

export const REPUBLISH_MS = 250;
/** Delivered batches whose late acknowledgements are still compared. */
const REMEMBERED = 256;
/** Between two warnings that the batch in flight is not delivered. */
const WARN_MS = 10_000;
/** Refusals for a wrong sequence over as long are no copies of a batch that the reader will deliver. */
const LOST_AFTER_MS = 3_000;
const NO_RESPONDERS = 503;
const LAST_LOST =
  "the stream no longer has this gateway's last message; restart it if no other gateway writes";
const EXPECTED_LAST = "Nats-Expected-Last-Subject-Sequence";

interface InFlight {
  readonly id: BatchId;
  readonly subject: string;
  /** Encodes at the first publish, so that the claim is as new as possible. */
  readonly encode: () => Uint8Array;
  bytes: Uint8Array | undefined;
  sinceMs: number;
  /** Since the first publish. */
  waitedMs: number;
  /** `waitedMs` at the first refusal for a wrong sequence. */
  wrongAtMs: number | undefined;
  /** The sequence in the server's acknowledgement. */
  acknowledged: number | undefined;
}

/** Why the server last refused a batch that is still in flight. */
export interface Refusal {
  readonly code: number;
  readonly description: string;
}

export class Publisher {
  /** Publishes after the first of each batch. */
  republished = 0;
  /** The newest refusal since the last accepted batch; a stream that is full shows here. */
  refusal: Refusal | undefined;
  private connection: NatsConnection | undefined;
  private inbox = "";
  private inFlight: InFlight | undefined;
  private writer = "";
  /** Changes with the writer: its answers must not be taken for those of the next one. */
  private epoch = 0;
  /** Sequence of the last message on the writer's own subject. */
  private ownLast = 0;
  /** Counter → sequence of the writer's newest delivered batches. */
  private readonly delivered = new Map<number, number>();

  constructor(
    private readonly stream: string,
    private readonly lastSeq: () => number,
    private readonly diverged: (error: ClusterError) => void,
    private readonly warn: (text: string) => void = () => undefined,
    /** Why no server is connected, if it is known. */
    private readonly connectionProblem: () => string = () => "",
    /** Whether everything is delivered that the stream is known to have. */
    private readonly isAtEnd: () => boolean = () => true,
  ) {}

  get ownWriter(): string | undefined {
    return this.writer === "" ? undefined : this.writer;
  }

  /** How long the batch in flight has waited for its delivery; 0 if there is none. */
  get waitedMs(): number {
    return this.inFlight?.waitedMs ?? 0;
  }

  publish(id: BatchId, encode: () => Uint8Array): void {
    if (this.inFlight !== undefined) {
      throw new Error(`batch ${this.inFlight.id.counter} is in flight; publish one at a time`);
    }
    if (id.writer !== this.writer) {
      this.writer = id.writer;
      this.epoch++;
      this.ownLast = 0;
      this.delivered.clear();
    }
    const subject = subjectOf(this.stream, id.writer);
    this.inFlight = {
      id,
      subject,
      encode,
      bytes: undefined,
      sinceMs: 0,
      waitedMs: 0,
      wrongAtMs: undefined,
      acknowledged: undefined,
    };
    this.send();
  }

  abandon(): void {
    this.inFlight = undefined;
  }

  attach(connection: NatsConnection): void {
    this.connection = connection;
    this.inbox = createInbox();
    connection.subscribe(`${this.inbox}.>`, {
      callback: (error, message) => {
        if (error === null) this.answered(message);
      },
    });
    void this.watchRights(connection);
    this.send();
  }

  tick(elapsedMs: number): void {
    const { inFlight } = this;
    if (inFlight === undefined) return;
    inFlight.sinceMs += elapsedMs;
    this.warnAfter(inFlight.waitedMs, inFlight.waitedMs + elapsedMs);
    inFlight.waitedMs += elapsedMs;
    if (inFlight.sinceMs >= REPUBLISH_MS) this.send();
  }

  /**
   * A message was delivered at `sequence`. `id` is its batch, undefined if it is malformed. If it is the
   * batch in flight, that is over.
   */
  deliveredAt(sequence: number, subject: string, id: BatchId | undefined): void {
    const { inFlight } = this;
    if (this.writer !== "" && subject === subjectOf(this.stream, this.writer)) {
      this.ownLast = sequence;
    }
    if (inFlight === undefined) return;
    const isOurs =
      subject === inFlight.subject &&
      id?.writer === inFlight.id.writer &&
      id.counter === inFlight.id.counter;
    const { acknowledged } = inFlight;
    if (acknowledged !== undefined && isOurs !== (acknowledged === sequence)) {
      this.contradiction(inFlight.id.counter, acknowledged, sequence);
      return;
    }
    if (!isOurs) return;
    this.remember(inFlight.id.counter, sequence);
    this.inFlight = undefined;
    this.refusal = undefined;
  }

  private send(): void {
    const { connection, inFlight } = this;
    if (connection === undefined || connection.isClosed() || inFlight === undefined) return;
    if (inFlight.bytes === undefined) inFlight.bytes = inFlight.encode();
    else this.republished++;
    inFlight.sinceMs = 0;
    const head = headers();
    head.set(EXPECTED_LAST, String(this.ownLast));
    const reply = `${this.inbox}.${this.epoch}.${inFlight.id.counter}`;
    try {
      connection.publish(inFlight.subject, inFlight.bytes, { headers: head, reply });
    } catch (error) {
      // The client library refuses, for example what is larger than this server's max_payload.
      this.refusal = { code: 0, description: textOf(error) };
    }
  }

  private async watchRights(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type !== "error" || !(status.error instanceof PermissionViolationError)) continue;
      const { operation, subject, message } = status.error;
      if (operation === "publish" && subject === this.inFlight?.subject) {
        this.refusal = { code: 0, description: message };
      }
    }
  }

  private warnAfter(beforeMs: number, nowMs: number): void {
    const periods = Math.floor(nowMs / WARN_MS);
    if (periods === Math.floor(beforeMs / WARN_MS)) return;
    const isConnected = this.connection?.isClosed() === false;
    const reason = isConnected
      ? (this.refusal?.description ?? "no server has refused it")
      : ["no server is connected", this.connectionProblem()].filter(Boolean).join(": ");
    const seconds = (periods * WARN_MS) / 1000;
    this.warn(`a batch of this gateway has waited for the log for ${seconds} s: ${reason}`);
  }

  private answered({ subject, data, headers: head }: Msg): void {
    const [epoch, counter = 0] = subject
      .slice(this.inbox.length + 1)
      .split(".")
      .map(Number);
    if (epoch !== this.epoch) return;
    if (head?.code === NO_RESPONDERS) {
      this.refused(counter, { code: NO_RESPONDERS, message: "no leader of the stream answers" });
      return;
    }
    const answer = parse(data);
    const error = errorIn(answer);
    const sequence = numberOf(answer, "seq");
    if (error !== undefined) this.refused(counter, error);
    else if (sequence > 0) this.acknowledgedAt(counter, sequence);
  }

  private refused(counter: number, { code, message }: { code: number; message: string }): void {
    const { inFlight } = this;
    if (inFlight?.id.counter !== counter) return;
    if (code !== WRONG_LAST_SEQUENCE) {
      this.refusal = { code, description: message };
      return;
    }
    inFlight.wrongAtMs ??= inFlight.waitedMs;
    // A copy of a batch that the stream has: expected.
    if (inFlight.waitedMs - inFlight.wrongAtMs < LOST_AFTER_MS || !this.isAtEnd()) return;
    this.refusal = { code, description: `${message}: ${LAST_LOST}` };
  }

  private acknowledgedAt(counter: number, sequence: number): void {
    const { inFlight } = this;
    const known = this.delivered.get(counter);
    if (known !== undefined && known !== sequence) this.contradiction(counter, sequence, known);
    if (inFlight?.id.counter !== counter) return;
    const isPast = sequence <= this.lastSeq();
    const isSecond = inFlight.acknowledged !== undefined && inFlight.acknowledged !== sequence;
    if (isPast || isSecond) {
      this.contradiction(counter, sequence, inFlight.acknowledged ?? this.lastSeq());
    }
    inFlight.acknowledged = sequence;
  }

  private contradiction(counter: number, acknowledged: number, delivered: number): void {
    this.diverged(
      new ClusterError(
        "diverged",
        `batch ${counter} of this gateway was acknowledged at sequence ${acknowledged}, which ` +
          `contradicts what was delivered up to sequence ${delivered}: the stream was changed`,
        { sequence: acknowledged },
      ),
    );
  }

  private remember(counter: number, sequence: number): void {
    this.delivered.set(counter, sequence);
    this.delivered.delete(counter - REMEMBERED);
  }
}
