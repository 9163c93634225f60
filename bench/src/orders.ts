/**
 * Signed, durable orders end to end, compared with a floor in the same run.
 *
 * Every order has its own nonce and signature and trades or rests in a real venue, which ticks, takes
 * snapshots as often as by default and streams its book to a reader. What is compared alternates in short turns over open
 * connections, because the speed of a shared machine changes within seconds.
 */
import { generateKeyPairSync } from "node:crypto";
import { Child } from "./harness/child.js";
import type { CoreLoad } from "./harness/core-load.js";
import {
  type BenchGateway,
  inFolder,
  processorMs,
  withGateway,
  withPeer,
} from "./harness/gateway.js";
import { type BenchAccount, signInMany } from "./harness/http.js";
import { type LoadLane, type OpenLane, startReaders, withLoad } from "./harness/load.js";
import type { LaneOptions, LoadResult } from "./harness/load-driver.js";
import { parseOptions } from "./harness/options.js";
import { inTurns, median, medianRatio, Report } from "./harness/report.js";

const options = parseOptions({
  command: "npm run bench -- orders",
  about: "Signed, durable orders over REST and sockets, compared with the least a gateway must do.",
  numbers: {
    count: ["orders of a turn at saturation", 1_000, 1_000],
    turns: ["turns of each at saturation", 40, 12],
    paced: ["orders of a turn at half of saturation", 15_000, 6_000],
    rounds: ["turns of each at half of saturation", 5, 2],
    link: ["orders of a turn over the link alone", 20_000, 10_000],
  },
});
const CONNECTIONS = 16;
/** Enough that a paced order seldom queues behind another on its connection. */
const PACED_CONNECTIONS = 64;
/** Of each lane. Until some thirty thousand orders V8's compiler takes up to 60 µs for each of them. */
const WARM_UP_ORDERS = 12_000;
/** The default. */
const SETTINGS = { snapshots: { everyMs: 300_000 } };
/** Orders in flight on a socket that has several. */
const SEVERAL = 4;
/** Orders in flight over the link alone: of few connections, and of as many as keep the core busy. */
const LINK_IN_FLIGHT = [16, 256];
const LINK_TURNS = 5;
const report = new Report("orders");

type Server = Pick<LaneOptions, "address" | "send">;

/** Processor time so far, in milliseconds. */
type Spent = () => Readonly<Record<string, number>>;
interface Floor extends Server {
  readonly spent: Spent;
}
interface Venue {
  readonly server: Server;
  readonly spent: Spent;
}

/** The floor, with the one key that it knows. */
function withFloor(run: (floor: Floor) => Promise<void>): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const publicKeyPem = publicKey.export({ type: "spki", format: "pem" }).toString();
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const send = [{ token: "t".repeat(43), privateKeyPem }];
  return inFolder("floor", (folder) =>
    withPeer(["floor", publicKeyPem, folder], (port, { process: { pid = 0 } }) =>
      run({ address: { port }, send, spent: () => ({ all: processorMs(pid) }) }),
    ),
  );
}

/** Microseconds an order of a turn. */
interface Turn {
  readonly perSecond: number;
  readonly micros: Readonly<Record<string, number>>;
}

async function turnOf(lane: LoadLane, spent: Spent): Promise<Turn> {
  const count = options.number("count");
  const before = spent();
  const { perSecond } = await lane.saturate(count);
  const micros = Object.entries(spent()).map(([part, ms]) => [
    part,
    ((ms - (before[part] ?? 0)) * 1_000) / count,
  ]);
  return { perSecond, micros: Object.fromEntries(micros) };
}

/** Processor time of an order over REST: the core, the edges, and both against the floor. */
function reportMicros(floor: readonly Turn[], rest: readonly Turn[]): void {
  const microsOf = (turns: readonly Turn[], part: string): number[] =>
    turns.map(({ micros }) => micros[part] ?? 0);
  const least = microsOf(floor, "all");
  const both = rest.map(({ micros }) => (micros.core ?? 0) + (micros.edges ?? 0));
  report.add("floor, processor time of an order", median(least), "µs");
  const add = (name: string, micros: readonly number[], bar: string, ratio?: number): void =>
    report.add(`REST, processor time of an order, ${name}`, median(micros), "µs", bar, ratio);
  add("core's main thread", microsOf(rest, "coreMain"), "bar 60");
  add("core", microsOf(rest, "core"), "bar 110");
  add("edges", microsOf(rest, "edges"), "");
  add("core and edges", both, "floor, bar 1.35", medianRatio(both, least));
}

/** Returns the orders per second of the gateway over REST. */
async function saturation(floor: Floor, venue: Venue, open: OpenLane): Promise<number> {
  const { server: gateway, spent } = venue;
  const connections = CONNECTIONS;
  const lanes = [
    await open({ ...floor, connections }),
    await open({ ...gateway, connections }),
    await open({ ...gateway, connections, isSocket: true }),
    await open({ ...gateway, connections, isSocket: true, inFlight: SEVERAL }),
  ];
  for (const lane of lanes) await lane.saturate(WARM_UP_ORDERS);
  const [least, rest, sockets, several] = await inTurns(
    "orders: saturation",
    options.number("turns"),
    lanes,
    (lane) => turnOf(lane, lane === lanes[0] ? floor.spent : spent),
  );
  reportMicros(least!, rest!);
  const add = (metric: string, turns = least!, against?: string, others = turns): void => {
    const rates = turns.map(({ perSecond }) => perSecond);
    const otherRates = others.map(({ perSecond }) => perSecond);
    const ratio = against === undefined ? undefined : medianRatio(rates, otherRates);
    report.add(metric, median(rates), "orders/s", against, ratio);
  };
  add(`floor, ${connections} connections`);
  add(`REST, ${connections} connections`, rest, "floor, bar 0.80", least);
  add(`${connections} sockets, 1 order in flight on each`, sockets, "REST", rest);
  const name = `${connections} sockets, ${SEVERAL} orders in flight on each`;
  add(name, several, "REST, bar 1.50", rest);
  return median(rest!.map(({ perSecond }) => perSecond));
}

/** Next to the floor's; a bar is what may be added to it, in milliseconds. */
function reportLatency(
  name: string,
  floor: readonly LoadResult[],
  turns: readonly LoadResult[],
  bars: readonly (readonly [at: "p50" | "p99", addedMs: number])[],
): void {
  for (const [at, addedMs] of bars) {
    const ours = median(turns.map(({ sent }) => sent[at]));
    const least = median(floor.map(({ sent }) => sent[at]));
    const against = `floor ${least.toFixed(2)} ms, bar + ${addedMs} ms; + ${(ours - least).toFixed(2)} ms`;
    report.add(`${name}, ${at}`, ours, "ms", against, ours / least);
  }
}

/** One order at a time, on one connection. */
async function oneInFlight(floor: Server, gateway: Server, open: OpenLane): Promise<void> {
  const lanes = [
    await open({ ...floor, connections: 1 }),
    await open({ ...gateway, connections: 1 }),
  ];
  const [floorTurns, turns] = await inTurns(
    "orders: one in flight",
    options.number("rounds"),
    lanes,
    (lane) => lane.saturate(options.number("count")),
  );
  reportLatency("REST, one in flight", floorTurns!, turns!, [["p50", 0.5]]);
}

/** Latency at a fixed rate, half of what the gateway can take. */
async function halfOfSaturation(
  floor: Server,
  gateway: Server,
  open: OpenLane,
  rate: number,
): Promise<void> {
  const connections = PACED_CONNECTIONS;
  const lanes = [await open({ ...floor, connections }), await open({ ...gateway, connections })];
  const [floorTurns, turns] = await inTurns(
    `orders: ${rate}/s`,
    options.number("rounds"),
    lanes,
    (lane) => lane.paced(options.number("paced"), rate),
  );
  reportLatency(`REST at ${rate}/s`, floorTurns!, turns!, [
    ["p50", 0.5],
    ["p99", 3],
  ]);
  const late = median(turns!.map((turn) => turn.late.p99));
  const floorLate = median(floorTurns!.map((turn) => turn.late.p99));
  const against = `${floorLate.toFixed(2)} ms with the floor`;
  report.add("  lateness of the load, p99", late, "ms", against);
}

/** What the core takes from as many edges as it needs: prepared requests over the link, without HTTP. */
async function overTheLink(gateway: BenchGateway, accounts: BenchAccount[]): Promise<void> {
  const load = Child.start<CoreLoad>(new URL("./harness/core-load.js", import.meta.url), [], {
    execArgv: ["--expose-gc"],
  });
  try {
    await load.call("connect", gateway.dataFolder, accounts);
    const count = options.number("link");
    await load.call("run", count, LINK_IN_FLIGHT[0]!);
    const turns = await inTurns("orders: link", LINK_TURNS, LINK_IN_FLIGHT, async (inFlight) => {
      const before = gateway.processorMsOfParts;
      const seconds = await load.call("run", count, inFlight);
      const { coreMain, core } = gateway.processorMsOfParts;
      const micros = (ms: number): number => (1_000 * ms) / count;
      return {
        perSecond: count / seconds,
        main: micros(coreMain - before.coreMain),
        core: micros(core - before.core),
      };
    });
    for (const [i, inFlight] of LINK_IN_FLIGHT.entries()) {
      const of = (value: "perSecond" | "main" | "core") => median(turns[i]!.map((t) => t[value]));
      const name = `link alone, ${inFlight} in flight`;
      report.add(name, of("perSecond"), "orders/s", "bar 15000", of("perSecond") / 15_000);
      report.add(`${name}, core's main thread`, of("main"), "µs", "bar 60", of("main") / 60);
      report.add(`${name}, core`, of("core"), "µs", "bar 110", of("core") / 110);
    }
  } finally {
    await load.stop();
  }
}

async function orders(floor: Floor, gateway: BenchGateway): Promise<void> {
  const address = { port: gateway.port };
  const accounts = await signInMany(address, CONNECTIONS);
  const server = { address, send: accounts };
  const reader = await startReaders(address, 1, "book.BTCUSD");
  await withLoad(async (open) => {
    const venue = { server, spent: () => gateway.processorMsOfParts };
    const rate = await saturation(floor, venue, open);
    await halfOfSaturation(floor, server, open, Math.floor(rate / 2));
    await oneInFlight(floor, server, open);
    await overTheLink(gateway, accounts);
  }).finally(() => reader.stop());
}

await report.step("floor and gateway", () =>
  withFloor((floor) => withGateway((gateway) => orders(floor, gateway), SETTINGS)),
);
report.print(options.has("json"));
