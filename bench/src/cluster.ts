/**
 * Orders through three gateways over one log, compared with JetStream alone on the same servers.
 *
 * J is the probe: publish to delivery with one message in flight, to another stream of the same servers,
 * at the same time and under the same load. All processes share this machine's cores.
 */
import { setTimeout as delay } from "node:timers/promises";
import { AcceptanceGap, Probe } from "./cluster/probe.js";
import {
  STREAM,
  SteadyTrader,
  type VenueCluster,
  withVenueCluster,
} from "./cluster/venue-cluster.js";
import type { BenchGateway } from "./harness/gateway.js";
import { signIn, signInMany } from "./harness/http.js";
import { type LoadLane, type OpenLane, withLoad } from "./harness/load.js";
import type { LoadResult } from "./harness/load-driver.js";
import { parseOptions } from "./harness/options.js";
import { inTurns, type LatencySummary, median, Report } from "./harness/report.js";

const options = parseOptions({
  command: "npm run bench -- cluster",
  about: "Orders through three gateways over one log, compared with JetStream alone.",
  numbers: {
    orders: ["orders of a turn", 2_000, 300],
    rounds: ["turns of each, of which the middle one counts", 5, 1],
    gaps: ["how often each is killed or steps down", 3, 1],
  },
});
const ORDERS = options.number("orders");
const PROBE = "probe";
/** As large as a message with one order. */
const PROBE_BYTES = 560;
/** Of each gateway. */
const CONNECTIONS = 16;
const SETTLE_MS = 1_000;
const report = new Report("cluster");

type Point = "p50" | "p99";

interface Bench {
  readonly cluster: VenueCluster;
  readonly probe: Probe;
  readonly open: OpenLane;
}

interface Turn {
  readonly load: LatencySummary;
  readonly probe: LatencySummary;
}

/** What the load and the probe measure at the same time. */
async function turns(probe: Probe, run: () => Promise<LatencySummary>): Promise<Turn[]> {
  const [all] = await inTurns("cluster", options.number("rounds"), [run], async () => {
    probe.take();
    return { load: await run(), probe: probe.take() };
  });
  return all!;
}

function middle(all: readonly Turn[], of: keyof Turn, point: Point): number {
  return median(all.map((turn) => turn[of][point]));
}

/** With accounts of its own: nonces count from 1 in each lane. */
async function lane(
  { open }: Bench,
  { port }: BenchGateway,
  connections: number,
): Promise<LoadLane> {
  const accounts = await signInMany({ port }, connections);
  return open({ address: { port }, send: accounts, connections });
}

async function idle(bench: Bench): Promise<void> {
  const one = await lane(bench, bench.cluster.gateways[0]!, 1);
  const all = await turns(bench.probe, async () => (await one.saturate(ORDERS)).sent);
  for (const [point, added] of [["p50", 1] as const, ["p99", 2] as const]) {
    const [order, j] = [middle(all, "load", point), middle(all, "probe", point)];
    report.add(`J, one order in flight, ${point}`, j, "ms");
    const against = `J + ${added} ms`;
    report.add(`one order in flight, ${point}`, order, "ms", against, order / (j + added));
  }
}

/** All gateways together. */
async function together(lanes: readonly LoadLane[], run: (lane: LoadLane) => Promise<LoadResult>) {
  const results = await Promise.all(lanes.map(run));
  const worst = (point: Point) => Math.max(...results.map(({ sent }) => sent[point]));
  const [first] = results;
  if (first === undefined) throw new Error("no gateway");
  return {
    perSecond: results.reduce((sum, { perSecond }) => sum + perSecond, 0),
    /** Of the slowest gateway. */
    sent: { ...first.sent, p50: worst("p50"), p99: worst("p99") },
  };
}

async function halfOfSaturation(bench: Bench): Promise<void> {
  const { gateways } = bench.cluster;
  const lanes = await Promise.all(gateways.map((each) => lane(bench, each, CONNECTIONS)));
  const [rates] = await inTurns("cluster: saturation", options.number("rounds"), [lanes], (all) =>
    together(all, (each) => each.saturate(ORDERS)),
  );
  const full = median(rates!.map(({ perSecond }) => perSecond));
  report.add("three gateways at saturation", full, "orders/s");
  const rate = Math.floor(full / 2 / lanes.length);
  const all = await turns(bench.probe, async () => {
    return (await together(lanes, (each) => each.paced(ORDERS, rate))).sent;
  });
  for (const [point, bar] of [["p50", 2.5] as const, ["p99", 3] as const]) {
    const [order, j] = [middle(all, "load", point), middle(all, "probe", point)];
    report.add(`J at half of saturation, ${point}`, j, "ms");
    report.add(`at half of saturation, ${point}`, order, "ms", `J, bar ${bar}`, order / j);
  }
}

/** What an order costs a gateway that did not receive it. */
async function processorTime(bench: Bench): Promise<void> {
  const { gateways } = bench.cluster;
  const one = await lane(bench, gateways[0]!, CONNECTIONS);
  const spent = async <T>(run: () => Promise<T>) => {
    const before = gateways.map(({ processorMs }) => processorMs);
    const started = performance.now();
    const result = await run();
    const seconds = (performance.now() - started) / 1_000;
    const ms = gateways.map(({ processorMs }, at) => (processorMs - before[at]!) / seconds);
    return { result, ms };
  };
  const rounds = options.number("rounds");
  const [turns] = await inTurns("cluster: processor time", rounds, [one], async () => {
    const idleTime = await spent(() => delay(SETTLE_MS));
    const busy = await spent(() => one.saturate(ORDERS));
    const [own = 0, ...others] = busy.ms.map((ms, at) => ms - idleTime.ms[at]!);
    return { micros: (1_000 * own) / busy.result.perSecond, ratio: Math.max(...others) / own };
  });
  const micros = median(turns!.map((turn) => turn.micros));
  const ratio = median(turns!.map((turn) => turn.ratio));
  report.add("processor time of an order at its gateway", micros, "µs");
  const metric = "processor time at another gateway";
  report.add(metric, ratio * micros, "µs", "bar 60", (ratio * micros) / 60);
}

/** The longest times in which an order was not acknowledged, and in which the stream accepted nothing. */
async function gapsDuring(
  { nats }: VenueCluster,
  trader: SteadyTrader,
  accepted: AcceptanceGap,
  step: () => Promise<unknown>,
) {
  await trader.more(20);
  trader.resetGap();
  accepted.reset();
  await step();
  await trader.more(20);
  const j = await accepted.longest();
  await nats.ready();
  await nats.inSync(STREAM);
  return { own: trader.longestGapMs, j };
}

async function withoutAcknowledgements({ cluster }: Bench): Promise<void> {
  const { nats, gateways } = cluster;
  const { port } = gateways[1]!;
  const trader = new SteadyTrader(port, await signIn({ port }));
  const accepted = await AcceptanceGap.watch(nats.urls(), STREAM);
  const killed = (find: () => Promise<{ kill(): Promise<void>; start(): void }>) => async () => {
    const server = await find();
    await server.kill();
    await trader.more(5);
    server.start();
  };
  const failures: readonly [string, (jMs: number) => number, () => Promise<unknown>][] = [
    ["leader killed", (j) => j + 1_000, killed(() => nats.streamLeader(STREAM))],
    ["step-down", (j) => j + 300, () => nats.stepDown(STREAM)],
    ["follower killed", () => 500, killed(() => nats.streamFollower(STREAM))],
  ];
  try {
    for (const [name, bar, step] of failures) {
      const gaps: { own: number; j: number }[] = [];
      while (gaps.length < options.number("gaps")) {
        gaps.push(await gapsDuring(cluster, trader, accepted, step));
      }
      const worst = gaps.reduce((a, b) => (b.own / bar(b.j) > a.own / bar(a.j) ? b : a));
      const limit = bar(worst.j);
      report.add(`J's gap, ${name}`, worst.j, "ms");
      const metric = `without acknowledgements, ${name}`;
      report.add(metric, worst.own, "ms", `bar ${Math.round(limit)} ms`, worst.own / limit);
    }
  } finally {
    trader.stop();
    await accepted.close();
  }
}

/** Under load at the two others. */
async function gatewayKilled(bench: Bench): Promise<void> {
  const [first, second, last] = bench.cluster.gateways;
  const lanes = [await lane(bench, first!, CONNECTIONS), await lane(bench, second!, CONNECTIONS)];
  const rate = 100;
  const p99 = async () => {
    return (await together(lanes, (each) => each.paced(rate * 10, rate))).sent.p99;
  };
  const turns: { before: number; during: number }[] = [];
  let victim = last!;
  while (turns.length < options.number("gaps")) {
    const before = await p99();
    const [during] = await Promise.all([p99(), delay(3_000).then(() => victim.end("SIGKILL"))]);
    turns.push({ before, during });
    victim = await victim.startAgain();
    await delay(SETTLE_MS);
  }
  await victim.end();
  const before = median(turns.map((turn) => turn.before));
  const during = median(turns.map((turn) => turn.during));
  report.add("before a gateway is killed, p99 of the others", before, "ms");
  const metric = "a gateway is killed, p99 of the others";
  report.add(metric, during, "ms", "before, bar 1.5", during / before);
}

await withVenueCluster(async (cluster) => {
  const servers = cluster.nats.urls();
  const probe = await Probe.open({ servers, stream: PROBE, messageBytes: PROBE_BYTES });
  probe.start();
  await withLoad(async (open) => {
    const bench = { cluster, probe, open };
    await report.step("one order in flight", () => idle(bench));
    await report.step("half of saturation", () => halfOfSaturation(bench));
    await report.step("processor time", () => processorTime(bench));
    await report.step("failures of servers", () => withoutAcknowledgements(bench));
    await report.step("failure of a gateway", () => gatewayKilled(bench));
  });
  await probe.close();
});
report.print(options.has("json"));
