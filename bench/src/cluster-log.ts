/**
 * The replicated log, compared with JetStream alone on the same three servers in the same run.
 *
 *   npm run bench:cluster-log [-- --help]
 *
 * Starts three nats-servers (PERPGATE_NATS_SERVER, or on PATH) below TMPDIR that sync every write.
 * The probe publishes to a stream with the same settings and waits for its own push consumer.
 */
import { connect } from "@nats-io/transport-node";
import { createStream } from "@perpgate/cluster";
import { NatsCluster } from "@perpgate/cluster/testing";
import { LogWriter } from "./cluster/log-writer.js";
import { Probe, rawMessagesPerSecond } from "./cluster/probe.js";
import { parseOptions } from "./harness/options.js";
import { Latencies, median, Report } from "./harness/report.js";

const PER_MESSAGE = 64;
const STREAM = "venue";
const PROBE = "probe";
const WARM_UP_MS = 500;

const options = parseOptions({
  command: "bench:cluster-log",
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

interface Turn {
  readonly p50: number;
  readonly p99: number;
}

async function probeTurn(servers: readonly string[]): Promise<Turn> {
  const probe = await Probe.open({ servers, stream: PROBE, messageBytes: RECORD.length + 116 });
  probe.start();
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
  probe.take();
  await new Promise((resolve) => setTimeout(resolve, TURN_MS));
  const turn = probe.take();
  await probe.close();
  return turn;
}

async function logTurn(servers: readonly string[]): Promise<Turn> {
  const writer = await LogWriter.open(servers, STREAM);
  const publishUntil = async (until: number): Promise<Latencies> => {
    const latencies = new Latencies();
    for (let now = performance.now(); now < until; ) {
      await writer.publish([RECORD]);
      const done = performance.now();
      latencies.record(done - now);
      now = done;
    }
    return latencies;
  };
  await publishUntil(performance.now() + WARM_UP_MS);
  const latencies = await publishUntil(performance.now() + TURN_MS);
  await writer.close();
  return latencies.summary();
}

async function logThroughput(cluster: NatsCluster): Promise<number> {
  const writers = await Promise.all(
    Array.from({ length: PUBLISHERS }, (_, index) =>
      LogWriter.open(cluster.urls(index % 3), STREAM),
    ),
  );
  const records = Array<Uint8Array>(PER_MESSAGE).fill(RECORD);
  const started = performance.now();
  const counts = await Promise.all(
    writers.map(async (writer) => {
      let count = 0;
      for (; performance.now() - started < TURN_MS; count++) await writer.publish(records);
      return count;
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  await Promise.all(writers.map((writer) => writer.close()));
  return counts.reduce((sum, count) => sum + count, 0) / seconds;
}

async function idle(cluster: NatsCluster): Promise<void> {
  const probes: Turn[] = [];
  const logs: Turn[] = [];
  for (let round = 0; round < options.number("rounds"); round++) {
    probes.push(await probeTurn(cluster.urls()));
    logs.push(await logTurn(cluster.urls()));
  }
  for (const key of ["p50", "p99"] as const) {
    const probe = median(probes.map((turn) => turn[key]));
    const log = median(logs.map((turn) => turn[key]));
    report.add(`JetStream alone, one in flight, ${key}`, probe, "ms");
    report.add(`the log, one in flight, ${key}`, log, "ms", "JetStream alone", log / probe);
  }
}

async function throughput(cluster: NatsCluster): Promise<void> {
  const raws: number[] = [];
  const logs: number[] = [];
  const messageBytes = PER_MESSAGE * (RECORD.length + 4) + 112;
  for (let round = 0; round < options.number("rounds"); round++) {
    const load = { servers: cluster.urls(), stream: PROBE, publishers: PUBLISHERS, messageBytes };
    raws.push(await rawMessagesPerSecond({ ...load, milliseconds: TURN_MS }));
    logs.push(await logThroughput(cluster));
  }
  const [raw, log] = [median(raws) * PER_MESSAGE, median(logs) * PER_MESSAGE];
  const name = `${PER_MESSAGE} commands a message, ${PUBLISHERS} publishers`;
  report.add(`JetStream alone, ${name}`, raw, "commands/s");
  report.add(`the log, ${name}`, log, "commands/s", "JetStream alone", log / raw);
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
