/**
 * The replicated log, compared with JetStream alone on the same three servers in the same run.
 *
 * Starts three nats-servers (PERPGATE_NATS_SERVER, or on PATH) below TMPDIR that sync every write.
 * The probe publishes to a stream with the same settings and waits for its own push consumer.
 */

import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@nats-io/transport-node";
import { createStream, ReplicatedLog } from "@perpgate/cluster";
import { NatsCluster } from "@perpgate/cluster/testing";
import { Probe, rawMessagesPerSecond } from "./cluster/probe.js";
import { parseOptions } from "./harness/options.js";
import { inTurns, type LatencySummary, median, Report, repeat } from "./harness/report.js";

/** A writer of the replicated log that applies nothing: the cost of the log alone. */
class LogWriter {
  private readonly writer = randomBytes(16).toString("hex");
  private counter = -1;
  private log: ReplicatedLog | undefined;
  private resolve: () => void = () => undefined;

  static async open(servers: readonly string[], stream: string): Promise<LogWriter> {
    const self = new LogWriter();
    let end = 0;
    self.log = await ReplicatedLog.open({
      servers,
      stream,
      name: "bench",
      mirror: {
        get end() {
          return end;
        },
        chainTail: () => [],
        append: (sequence) => {
          end = sequence;
          return Promise.resolve();
        },
      },
      hooks: {
        lastBlock: () => ({ number: 0, hash: new Uint8Array(32) }),
        blockHash: () => undefined,
        isLive: () => true,
        room: () => undefined,
      },
      logger: { info: () => undefined, warn: () => undefined },
    });
    await self.log.start(({ id }) => {
      if (id.writer === self.writer) self.resolve();
    });
    return self;
  }

  /** Resolves when the batch is delivered. */
  publish(records: readonly Uint8Array[]): Promise<void> {
    this.counter++;
    return new Promise((resolve) => {
      this.resolve = resolve;
      this.log?.publish({ writer: this.writer, counter: this.counter }, records);
    });
  }

  async close(): Promise<void> {
    await this.log?.close();
  }
}

const PER_MESSAGE = 64;
const STREAM = "venue";
const PROBE = "probe";
const WARM_UP_MS = 500;

const options = parseOptions({
  command: "npm run bench -- cluster-log",
  about: "Publish to delivery through the replicated log, compared with JetStream alone.",
  numbers: {
    milliseconds: ["length of a turn", 3000, 500],
    rounds: ["turns of each, of which the middle one counts", 3, 1],
    publishers: ["writers of the throughput turns", 3, 3],
    bytes: ["size of a command", 200, 200],
  },
});
const TURN_MS = options.number("milliseconds");
const PUBLISHERS = options.number("publishers");
const RECORD = new Uint8Array(options.number("bytes")).fill(7);
const report = new Report("cluster-log");

type Turn = Pick<LatencySummary, "p50" | "p99">;

async function probeTurn(servers: readonly string[]): Promise<Turn> {
  const probe = await Probe.open({ servers, stream: PROBE, messageBytes: RECORD.length + 116 });
  probe.start();
  await delay(WARM_UP_MS);
  probe.take();
  await delay(TURN_MS);
  const turn = probe.take();
  await probe.close();
  return turn;
}

async function logTurn(servers: readonly string[]): Promise<Turn> {
  const writer = await LogWriter.open(servers, STREAM);
  const publish = (): Promise<void> => writer.publish([RECORD]);
  await repeat(WARM_UP_MS, 1, publish);
  const turn = await repeat(TURN_MS, 1, publish);
  await writer.close();
  return turn;
}

async function logThroughput(cluster: NatsCluster): Promise<number> {
  const writers = await Promise.all(
    Array.from({ length: PUBLISHERS }, (_, index) =>
      LogWriter.open(cluster.urls(index % 3), STREAM),
    ),
  );
  const records = Array<Uint8Array>(PER_MESSAGE).fill(RECORD);
  const publish = (path: number): Promise<void> => writers[path]!.publish(records);
  const { perSecond } = await repeat(TURN_MS, PUBLISHERS, publish);
  await Promise.all(writers.map((writer) => writer.close()));
  return perSecond;
}

async function idle(cluster: NatsCluster): Promise<void> {
  const rounds = options.number("rounds");
  const [probes, logs] = await inTurns("cluster-log", rounds, [probeTurn, logTurn], (turn) =>
    turn(cluster.urls()),
  );
  for (const key of ["p50", "p99"] as const) {
    const probe = median(probes!.map((turn) => turn[key]));
    const log = median(logs!.map((turn) => turn[key]));
    report.add(`JetStream alone, one in flight, ${key}`, probe, "ms");
    report.add(`the log, one in flight, ${key}`, log, "ms", "JetStream alone", log / probe);
  }
}

async function throughput(cluster: NatsCluster): Promise<void> {
  const messageBytes = PER_MESSAGE * (RECORD.length + 4) + 112;
  const load = { servers: cluster.urls(), stream: PROBE, publishers: PUBLISHERS, messageBytes };
  const sides = [
    () => rawMessagesPerSecond({ ...load, milliseconds: TURN_MS }),
    () => logThroughput(cluster),
  ];
  const turns = await inTurns("cluster-log", options.number("rounds"), sides, (side) => side());
  const [raw, log] = turns.map((messages) => median(messages) * PER_MESSAGE);
  const name = `${PER_MESSAGE} commands a message, ${PUBLISHERS} publishers`;
  report.add(`JetStream alone, ${name}`, raw!, "commands/s");
  report.add(`the log, ${name}`, log!, "commands/s", "JetStream alone", log! / raw!);
}

const cluster = await NatsCluster.start();
const nats = await connect({ servers: cluster.urls() });
await createStream(nats, { stream: STREAM });
await createStream(nats, { stream: PROBE });
await nats.close();
await report.step("one in flight", () => idle(cluster));
await report.step("throughput", () => throughput(cluster));
await cluster.remove();
report.print(options.has("json"));
