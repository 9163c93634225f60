/**
 * Signed, durable orders end to end, compared with a floor in the same run.
 *
 *   npm run bench:orders [-- --help]
 *
 * Every order has its own nonce and signature and trades or rests in a real venue, which ticks, takes
 * snapshots and streams its book to a reader. What is compared alternates in short turns over open
 * connections, because the speed of a shared machine changes within seconds.
 */
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withPeer } from "./harness/child.js";
import { type Gateway, inFolder, withGateway } from "./harness/gateway.js";
import { type Account, type Address, signInMany } from "./harness/http.js";
import { type LoadLane, type LoadResult, withLoad } from "./harness/load.js";
import { parseOptions } from "./harness/options.js";
import { median, progress, Report } from "./harness/report.js";
import { type BareGateway, withGatewayOf } from "./orders/release-before.js";
import { startReaders } from "./streams/start-readers.js";

const options = parseOptions({
  command: "bench:orders",
  about: "Signed, durable orders over REST and sockets, compared with the least a gateway must do.",
  numbers: {
    count: ["orders of a turn at saturation", 1_000, 1_000],
    turns: ["turns of each at saturation", 40, 12],
    paced: ["orders of a turn at half of saturation", 15_000, 6_000],
    rounds: ["turns of each at half of saturation", 5, 2],
    readers: ["sockets that read the book meanwhile", 1, 1],
  },
  texts: { before: "folder of a built release whose gateway is compared with this one instead" },
  switches: {
    "no-receipts": "with --before: this release signs no receipts, as releases before 0.2",
  },
});
const CONNECTIONS = 16;
/** Enough that a paced order seldom queues behind another on its connection. */
const PACED_CONNECTIONS = 64;
const WARM_UP_ORDERS = 4_000;
/** Orders in flight on a socket that has several. */
const SEVERAL = 4;

const report = new Report("orders", [
  "signing (done before the clock starts)",
  "TLS and the network: everything is on this machine, the load included",
]);

type OpenLane = Parameters<Parameters<typeof withLoad>[0]>[0];

interface Server {
  readonly address: Address;
  readonly send: readonly Pick<Account, "token" | "privateKeyPem">[];
}

/** The floor, with the one key that it knows. */
function withFloor(run: (floor: Server) => Promise<void>): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const publicKeyPem = publicKey.export({ type: "spki", format: "pem" }).toString();
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const send = [{ token: "t".repeat(43), privateKeyPem }];
  return inFolder("floor", (folder) =>
    withPeer(["floor", publicKeyPem, folder], ({ port }) => run({ address: { port }, send })),
  );
}

/** Returns the orders per second of the gateway over REST. */
async function saturation(floor: Server, gateway: Server, open: OpenLane): Promise<number> {
  const sockets = { ...gateway, isSocket: true, connections: CONNECTIONS };
  const lanes = {
    floor: await open({ ...floor, connections: CONNECTIONS }),
    rest: await open({ ...gateway, connections: CONNECTIONS }),
    sockets: await open(sockets),
    several: await open({ ...sockets, inFlight: SEVERAL }),
    wideRest: await open({ ...gateway, connections: SEVERAL * CONNECTIONS }),
  };
  const names = ["floor", "rest", "sockets", "several", "wideRest"] as const;
  const rates: Record<(typeof names)[number], number[]> = {
    ...{ floor: [], rest: [], sockets: [], several: [], wideRest: [] },
  };
  for (const name of names) await lanes[name].saturate(WARM_UP_ORDERS);
  const turns = options.number("turns");
  for (let turn = 1; turn <= turns; turn++) {
    if (turn % 10 === 1) progress(`orders: saturation, turn ${turn} of ${turns} …`);
    for (const name of names) {
      rates[name].push((await lanes[name].saturate(options.number("count"))).perSecond);
    }
  }
  const ratio = (name: (typeof names)[number], other: (typeof names)[number]): number =>
    median(rates[name].map((rate, i) => rate / rates[other][i]!));
  const add = (metric: string, name: (typeof names)[number], against?: string, value?: number) =>
    report.add(`${metric}`, median(rates[name]), "orders/s", against, value);
  add(`floor, ${CONNECTIONS} connections`, "floor");
  add(`REST, ${CONNECTIONS} connections`, "rest", "floor, bar 0.80", ratio("rest", "floor"));
  const name = `${CONNECTIONS} sockets`;
  add(`${name}, 1 order in flight on each`, "sockets", "REST", ratio("sockets", "rest"));
  const severalRatio = ratio("several", "rest");
  add(`${name}, ${SEVERAL} orders in flight on each`, "several", "REST, bar 1.25", severalRatio);
  const wide = `REST, ${SEVERAL * CONNECTIONS} connections`;
  const wideRatio = ratio("several", "wideRest");
  report.detail(wide, median(rates.wideRest), "orders/s", "the sockets are", wideRatio);
  const pairs = rates.rest.map((rate, i) => (rate / rates.floor[i]!).toFixed(2)).sort();
  progress(`orders: REST / floor in each turn: ${pairs.join(" ")}`);
  return median(rates.rest);
}

/** Latency at a fixed rate, half of what the gateway can take. */
async function halfOfSaturation(floor: LoadLane, gateway: LoadLane, rate: number): Promise<void> {
  const floorTurns: LoadResult[] = [];
  const turns: LoadResult[] = [];
  const rounds = options.number("rounds");
  for (let round = 1; round <= rounds; round++) {
    progress(`orders: ${rate}/s, round ${round} of ${rounds} …`);
    floorTurns.push(await floor.paced(options.number("paced"), rate));
    turns.push(await gateway.paced(options.number("paced"), rate));
  }
  const middle = (of: readonly LoadResult[], since: "sent" | "due" | "late", at: "p50" | "p99") =>
    median(of.map((turn) => turn[since][at]));
  for (const [at, barMs] of [["p50", 1] as const, ["p99", 5] as const]) {
    for (const since of ["sent", "due"] as const) {
      const ours = middle(turns, since, at);
      const least = middle(floorTurns, since, at);
      const against = `floor ${least.toFixed(2)} ms; bars ${barMs} ms and 1.5×`;
      report.add(`REST at ${rate}/s, ${at} since ${since}`, ours, "ms", against, ours / least);
    }
  }
  const against = `${middle(floorTurns, "late", "p99").toFixed(2)} ms with the floor`;
  report.add("  lateness of the load, p99", middle(turns, "late", "p99"), "ms", against);
}

async function orders(floor: Server, { port, dataFolder }: Gateway): Promise<void> {
  const address = { port };
  const gateway: Server = { address, send: await signInMany(address, CONNECTIONS) };
  const readers = await startReaders(address, options.number("readers"), "book.BTCUSD");
  try {
    await withLoad(async (open) => {
      let rate = 0;
      await report.step("saturation", async () => {
        rate = await saturation(floor, gateway, open);
      });
      await report.step("half of saturation", async () => {
        if (rate === 0) throw new Error("the rate at saturation is not known");
        const connections = PACED_CONNECTIONS;
        const lanes = [
          await open({ ...floor, connections }),
          await open({ ...gateway, connections }),
        ];
        await halfOfSaturation(lanes[0]!, lanes[1]!, Math.floor(rate / 2));
      });
    });
    const snapshots = readFileSync(join(dataFolder, "checkpoints.jsonl"), "utf8").split("\n");
    report.detail("snapshots taken meanwhile", snapshots.length - 1, "");
  } finally {
    await readers.stop();
  }
}

/** Processor time of both gateways per order of the same load, turn by turn. */
async function againstBefore(before: BareGateway, now: BareGateway): Promise<void> {
  const turns = options.number("turns");
  const count = options.number("count");
  await withLoad(async (open) => {
    const sides = await Promise.all(
      [before, now].map(async (gateway) => {
        const address = { port: gateway.port };
        const send = await signInMany(address, CONNECTIONS);
        const lane = await open({ address, send, connections: CONNECTIONS });
        return { gateway, lane, micros: [] as number[], rates: [] as number[] };
      }),
    );
    for (const { lane } of sides) await lane.saturate(2 * WARM_UP_ORDERS);
    for (let turn = 1; turn <= turns; turn++) {
      if (turn % 10 === 1) progress(`orders: both releases, turn ${turn} of ${turns} …`);
      for (const side of turn % 2 === 0 ? sides : sides.toReversed()) {
        const started = side.gateway.processorMs;
        const { perSecond } = await side.lane.saturate(count);
        side.micros.push(((side.gateway.processorMs - started) * 1_000) / count);
        side.rates.push(perSecond);
      }
    }
    const [old, own] = [sides[0]!, sides[1]!];
    const ratioOf = (a: readonly number[], b: readonly number[]): number =>
      median(a.map((value, i) => value / b[i]!));
    const name = `REST, ${CONNECTIONS} connections`;
    const micros = "µs of processor per order";
    report.add(`${name}, the release before`, median(old.micros), micros);
    const ratio = ratioOf(old.micros, own.micros);
    report.add(name, median(own.micros), micros, "orders per processor time, bar 0.95", ratio);
    report.add(`${name}, the release before`, median(old.rates), "orders/s");
    const rates = ratioOf(own.rates, old.rates);
    report.add(name, median(own.rates), "orders/s", "the release before, bar 0.95", rates);
  });
}

const folderBefore = options.text("before");
if (folderBefore !== undefined) {
  await report.step("both releases", () =>
    withGatewayOf(folderBefore, (before) =>
      withGateway((now) => againstBefore(before, now), {
        receipts: { issue: !options.has("no-receipts") },
      }),
    ),
  );
} else {
  await report.step("servers", () =>
    withFloor((floor) => withGateway((gateway) => orders(floor, gateway))),
  );
}
report.print(options.has("json"));
