/**
 * JetStream alone, without the venue's log: a stream with the same settings on the same servers, a
 * plain publisher and a plain push consumer. What the cluster adds is compared with it.
 */
import { setTimeout as delay } from "node:timers/promises";
import {
  connect,
  createInbox,
  type Msg,
  type NatsConnection,
  type Subscription,
} from "@nats-io/transport-node";
import { createStream } from "@perpgate/cluster";
import { Latencies, type LatencySummary } from "../harness/report.js";

const REQUEST_MS = 10_000;
const FIRST_TRY_MS = 250;
/** Between two messages of `AcceptanceGap`. */
const EVERY_MS = 10;

interface ProbeOptions {
  /** Addresses of the servers. */
  readonly servers: readonly string[];
  /** Created if it is missing; not the venue's. */
  readonly stream: string;
  readonly messageBytes: number;
}

/** Publish to delivery with one message in flight: J. */
export class Probe {
  private latencies = new Latencies();
  private sentMs = 0;
  private isRunning = false;
  private retry: NodeJS.Timeout | undefined;
  private count = 0;

  private constructor(
    private readonly connection: NatsConnection,
    private readonly subscription: Subscription,
    private readonly subject: string,
    private readonly payload: Buffer,
  ) {}

  static async open(options: ProbeOptions): Promise<Probe> {
    const { servers, stream, messageBytes } = options;
    const connection = await connectForEver(servers);
    await createStream(connection, { stream });
    const inbox = createInbox();
    let probe: Probe | undefined;
    const subscription = connection.subscribe(inbox, {
      callback: (_, message) => probe?.delivered(message),
    });
    const config = { deliver_subject: inbox, ack_policy: "none", deliver_policy: "new" };
    const body = JSON.stringify({ stream_name: stream, config: { ...config, mem_storage: true } });
    await connection.request(`$JS.API.CONSUMER.CREATE.${stream}`, body, { timeout: REQUEST_MS });
    const subject = `${stream}.log.probe`;
    probe = new Probe(connection, subscription, subject, Buffer.alloc(messageBytes));
    return probe;
  }

  start(): void {
    this.isRunning = true;
    this.send();
  }

  /** What was measured since the last call. */
  take(): LatencySummary {
    const summary = this.latencies.summary();
    this.latencies = new Latencies();
    return summary;
  }

  async close(): Promise<void> {
    this.isRunning = false;
    clearTimeout(this.retry);
    this.subscription.unsubscribe();
    await this.connection.close();
  }

  private send(): void {
    this.sentMs = performance.now();
    this.payload.writeUInt32LE(++this.count);
    this.connection.publish(this.subject, this.payload);
    clearTimeout(this.retry);
    // A message may be lost with its server.
    this.retry = setTimeout(() => this.send(), FIRST_TRY_MS);
  }

  private delivered({ subject, data }: Msg): void {
    if (subject !== this.subject || !this.isRunning) return;
    // One that was sent again may arrive twice.
    if (Buffer.from(data).readUInt32LE() !== this.count) return;
    this.latencies.record(performance.now() - this.sentMs);
    this.send();
  }
}

/**
 * The longest time in which a stream accepts nothing. It asks the stream that the venue uses, because
 * another one on the same servers has elections of its own, which differ by seconds. What it publishes
 * is no batch, and every gateway drops it.
 */
export class AcceptanceGap {
  private longestMs = 0;
  private accepted = 0;
  private lastMs = performance.now();
  private isOver = false;
  private readonly ended: Promise<void>;

  private constructor(
    private readonly connection: NatsConnection,
    private readonly subject: string,
  ) {
    this.ended = this.publish();
  }

  static async watch(servers: readonly string[], stream: string): Promise<AcceptanceGap> {
    return new AcceptanceGap(await connectForEver(servers), `${stream}.log.probe`);
  }

  reset(): void {
    this.longestMs = 0;
    this.lastMs = performance.now();
  }

  /** The longest since `reset`, the present one included, which ends first. */
  async longest(): Promise<number> {
    const seen = this.accepted;
    while (this.accepted === seen) await delay(EVERY_MS);
    return this.longestMs;
  }

  async close(): Promise<void> {
    this.isOver = true;
    await this.ended;
    await this.connection.close();
  }

  private async publish(): Promise<void> {
    for (; !this.isOver; await delay(EVERY_MS)) {
      if (!(await this.isAccepted())) continue;
      const now = performance.now();
      this.longestMs = Math.max(this.longestMs, now - this.lastMs);
      this.lastMs = now;
      this.accepted++;
    }
  }

  private async isAccepted(): Promise<boolean> {
    try {
      const options = { timeout: FIRST_TRY_MS };
      const answer = await this.connection.request(this.subject, Buffer.of(0), options);
      return !("error" in answer.json<object>());
    } catch {
      // No leader, or no answer in time.
      return false;
    }
  }
}

function connectForEver(servers: readonly string[]): Promise<NatsConnection> {
  return connect({ servers: [...servers], maxReconnectAttempts: -1, reconnectTimeWait: 100 });
}
