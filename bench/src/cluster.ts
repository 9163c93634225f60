/**
 * Orders through three gateways over one log, compared with JetStream alone on the same servers.
 *
 *   npm run bench:cluster [-- --help]
 *
 * J is the probe: publish to delivery with one message in flight, to another stream of the same servers,
 * at the same time and under the same load. All processes share this machine's cores.
 */
import { setTimeout as delay } from "node:timers/promises";
import { Probe } from "./cluster/probe.js";
import {
  STREAM,
  SteadyTrader,
  type VenueCluster,
  withVenueCluster,
} from "./cluster/venue-cluster.js";
import type { Gateway } from "./harness/gateway.js";
import { signIn, signInMany } from "./harness/http.js";
import { type LoadLane, type LoadResult, type OpenLane, withLoad } from "./harness/load.js";
import { parseOptions } from "./harness/options.js";
import { type LatencySummary, median, Report } from "./harness/report.js";

const options = parseOptions({
  command: "bench:cluster",
  about: "Orders through three gateways over one log, compared with JetStream alone.",
  numbers: {
    orders: ["orders of a turn", 2_000, 300],
    rounds: ["turns of each, of which the middle one counts", 5, 1],
    gaps: ["how often each server is killed or steps down", 3, 1],
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

async function turns(probe: Probe, run: () => Promise<LatencySummary>): Promise<Turn[]> {
  const all: Turn[] = [];
  for (let round = 0; round < options.number("rounds"); round++) {
    probe.take();
    const load = await run();
    all.push({ load, probe: probe.take() });
  }
  return all;
}

function middle(all: readonly Turn[], of: keyof Turn, point: Point): number {
  return median(all.map((turn) => turn[of][point]));
}

/** With accounts of its own: nonces count from 1 in each lane. */
async function lane({ open }: Bench, { port }: Gateway, connections: number): Promise<LoadLane> {
  const accounts = await signInMany({ port }, connections);
  return open({ address: { port }, send: accounts, connections });
}

function lanesOf(bench: Bench, connections: number): Promise<LoadLane[]> {
  return Promise.all(bench.cluster.gateways.map((gateway) => lane(bench, gateway, connections)));
}

async function idle(bench: Bench): Promise<void> {
  const one = await lane(bench, bench.cluster.gateways[0]!, 1);
  await one.saturate(Math.ceil(ORDERS / 4));
  const all = await turns(bench.probe, async () => (await one.saturate(ORDERS)).sent);
  for (const [point, added] of [
    ["p50", 0.6],
    ["p99", 2],
  ] as const) {
    const [order, j] = [middle(all, "load", point), middle(all, "probe", point)];
    report.add(`J, one order in flight, ${point}`, j, "ms");
    report.add(
      `one order in flight, ${point}`,
      order,
      "ms",
      `J + ${added} ms`,
      order / (j + added),
    );
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
  const lanes = await lanesOf(bench, CONNECTIONS);
  const rates: number[] = [];
  for (let round = 0; round <= options.number("rounds"); round++) {
    rates.push((await together(lanes, (each) => each.saturate(ORDERS))).perSecond);
  }
  // The first one warms up.
  const full = median(rates.slice(1));
  report.add("three gateways at saturation", full, "orders/s");
  const rate = Math.floor(full / 2 / lanes.length);
  const all = await turns(bench.probe, async () => {
    return (await together(lanes, (each) => each.paced(ORDERS, rate))).sent;
  });
  for (const [point, bar] of [
    ["p50", 2.5],
    ["p99", 3],
  ] as const) {
    const [order, j] = [middle(all, "load", point), middle(all, "probe", point)];
    report.add(`J at half of saturation, ${point}`, j, "ms");
    report.add(`at half of saturation, ${point}`, order, "ms", `J, bar ${bar}`, order / j);
  }
}

/** What an order costs a gateway that did not receive it. */
async function processorTime(bench: Bench): Promise<void> {
  const { gateways } = bench.cluster;
  const one = await lane(bench, gateways[0]!, CONNECTIONS);
  const spent = async (run: () => Promise<unknown>): Promise<number[]> => {
    const before = gateways.map(({ processorMs }) => processorMs);
    const started = performance.now();
    await run();
    const seconds = (performance.now() - started) / 1_000;
    return gateways.map(({ processorMs }, at) => (processorMs - before[at]!) / seconds);
  };
  const ratios: number[] = [];
  const received: number[] = [];
  for (let round = 0; round < options.number("rounds"); round++) {
    const idleTime = await spent(() => delay(SETTLE_MS));
    let perSecond = 0;
    const busy = await spent(async () => {
      ({ perSecond } = await one.saturate(ORDERS));
    });
    const [own = 0, ...others] = busy.map((ms, at) => ms - idleTime[at]!);
    received.push((own / perSecond) * 1_000);
    ratios.push(Math.max(...others) / own);
  }
  report.add("processor time of an order at its gateway", median(received), "µs");
  const ratio = median(ratios);
  const time = ratio * median(received);
  report.add("processor time at another gateway", time, "µs", "its gateway, bar 0.4", ratio);
}

async function withoutAcknowledgements(bench: Bench): Promise<void> {
  const { nats, gateways } = bench.cluster;
  const { port } = gateways[1]!;
  const trader = new SteadyTrader(port, await signIn({ port }));
  const measure = async (name: string, bar: (jMs: number) => number, step: () => Promise<void>) => {
    const gaps: { own: number; j: number }[] = [];
    for (let run = 0; run < options.number("gaps"); run++) {
      await sameLeader(bench);
      await trader.more(20);
      trader.resetGap();
      bench.probe.resetGap();
      await step();
      await trader.more(20);
      await nats.ready();
      await nats.inSync(STREAM);
      await nats.inSync(PROBE);
      gaps.push({ own: trader.longestGapMs, j: bench.probe.longestGapMs });
    }
    const worst = gaps.reduce((a, b) => (b.own / bar(b.j) > a.own / bar(a.j) ? b : a));
    report.add(`J's gap, ${name}`, worst.j, "ms");
    const limit = bar(worst.j);
    report.add(
      `without acknowledgements, ${name}`,
      worst.own,
      "ms",
      `bar ${Math.round(limit)} ms`,
      worst.own / limit,
    );
  };
  const killed = (find: () => Promise<{ kill(): Promise<void>; start(): void }>) => async () => {
    const server = await find();
    await server.kill();
    await trader.more(5);
    server.start();
  };
  await measure(
    "leader killed",
    (j) => j + 1_000,
    killed(() => nats.streamLeader(STREAM)),
  );
  await measure(
    "step-down",
    (j) => j + 300,
    async () => {
      await Promise.all([nats.stepDown(STREAM), nats.stepDown(PROBE)]);
    },
  );
  await measure(
    "follower killed",
    () => 500,
    killed(() => nats.streamFollower(STREAM)),
  );
  await trader.stop();
}

/** Moves the probe's leader to the server that leads the venue's stream. */
async function sameLeader({ cluster: { nats } }: Bench): Promise<void> {
  for (;;) {
    const [venue, probe] = [await nats.streamLeader(STREAM), await nats.streamLeader(PROBE)];
    if (venue.name === probe.name) return;
    await nats.stepDown(PROBE);
    await delay(SETTLE_MS);
  }
}

/** The last one: it leaves two gateways. */
async function gatewayKilled(bench: Bench): Promise<void> {
  const [first, second, last] = bench.cluster.gateways;
  const lanes = [await lane(bench, first!, CONNECTIONS), await lane(bench, second!, CONNECTIONS)];
  const rate = 100;
  const paced = () => together(lanes, (each) => each.paced(rate * 10, rate));
  const before = (await paced()).sent.p99;
  const during = paced();
  await delay(3_000);
  await last!.end("SIGKILL");
  const after = (await during).sent.p99;
  report.add("before a gateway is killed, p99 of the others", before, "ms");
  report.add(
    "a gateway is killed, p99 of the others",
    after,
    "ms",
    "before, bar 1.5",
    after / before,
  );
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
